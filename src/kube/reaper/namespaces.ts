import { REAP } from "../../core/reap/policy.ts";
import { EXIT, Failure } from "../../core/run/exit.ts";
import type { Log } from "../../system/output/log.ts";
import { type ApiError, isForbidden, isNotFound } from "../api/api-error.ts";
import type { ApiClient, KubeObject } from "../api/client.ts";
import type { Context } from "../api/context.ts";
import { pagesAt } from "../api/list.ts";
import { keepTrying } from "../controller/keep-trying.ts";
import { pause } from "../controller/pause.ts";
import { whenAborted } from "../controller/stops.ts";
import { createReflector } from "./reflector.ts";

/** Which namespaces to read. */
export interface WatchedNamespaces {
  /** Empty: all. */
  readonly namespaces: readonly string[];
  /** How often all is listed, and named namespaces are read, anew, and how long to wait if namespaces may not be read. */
  readonly resyncMs: number;
}

/** A cache of the label ebb.dev/reap of namespaces. */
export interface Namespaces {
  /**
   * Keeps the cache up to date until the signal is aborted. Calls `changed` with the name of a namespace whose label
   * changed.
   */
  run(changed: (name: string) => void, signal: AbortSignal): Promise<void>;
  /** Resolves when the labels are known, or it is known that they may not be read; or when the signal is aborted. */
  known(signal: AbortSignal): Promise<void>;
  /** Returns the label's value by namespace. Namespaces without the label are absent. */
  said(): ReadonlyMap<string, string>;
}

const COLLECTION = "/api/v1/namespaces";
const query = { labelSelector: REAP };
const message = "cannot watch namespaces: retrying";

/**
 * Creates a cache of the label ebb.dev/reap of the named namespaces, or of all; `run` fills it. Named ones are read one
 * by one every `resyncMs`: a Role in each can allow that, but no list. All are listed and watched. The log says once
 * that they may not be read, in which case the label counts as absent, and once of each named one that it does not
 * exist.
 */
export function watchNamespaces(api: ApiClient, { namespaces, resyncMs }: WatchedNamespaces, log: Log): Namespaces {
  const said = new Map<string, string>();
  const known = Promise.withResolvers<void>();
  const refused = onceFor(() => "", complaintTo(log));
  const missing = onceFor(String, (namespace) => log.warn({ namespace }, "no such namespace: waiting for it"));
  const watchAll = (changed: (name: string) => void, signal: AbortSignal): Promise<void> => {
    const trim = ({ metadata: { uid, name, labels } }: KubeObject) => ({ metadata: { uid, name, labels } });
    const seen = (each: KubeObject, isGone: boolean): void => {
      if (put(said, each.metadata.name, isGone ? undefined : labelOf(each))) changed(each.metadata.name);
    };
    const mayNot = (error: ApiError): void => {
      refused(error);
      known.resolve();
    };
    const reflected = { collection: COLLECTION, query, resyncMs, trim };
    const reflector = createReflector(api, reflected, { seen, listed: known.resolve, refused: mayNot });
    return reflector.run({ message, log, signal });
  };
  const readNamed = async (changed: (name: string) => void, signal: AbortSignal): Promise<void> => {
    for (const name of namespaces)
      if (put(said, name, await readLabel(api, name, { refused, missing, signal }))) changed(name);
    known.resolve();
  };
  return {
    async run(changed, signal) {
      if (namespaces.length === 0) return await watchAll(changed, signal);
      const once = async (isFine: () => void): Promise<void> => {
        await readNamed(changed, signal);
        isFine();
        await pause(resyncMs, signal);
      };
      await keepTrying(once, { message, log, signal });
    },
    known: (signal) => Promise.race([known.promise, whenAborted(signal)]),
    said: () => said,
  };
}

/**
 * Reads the label ebb.dev/reap of the named namespaces, or of all, once, and resolves with its value by namespace. If
 * they may not be read, the log says so, and the label counts as absent. Rejects with ApiError if the API server does
 * not answer, with Failure(64) if a named one does not exist.
 */
export async function readNamespaces(
  api: ApiClient,
  namespaces: readonly string[],
  { log, signal }: Context,
): Promise<ReadonlyMap<string, string>> {
  const said = new Map<string, string>();
  const refused = onceFor(() => "", complaintTo(log));
  for (const name of namespaces) put(said, name, await readLabel(api, name, { refused, missing, signal }));
  if (namespaces.length > 0) return said;
  try {
    for await (const { items } of pagesAt<KubeObject>(api, COLLECTION, query, { signal }))
      for (const each of items) put(said, each.metadata.name, labelOf(each));
  } catch (error) {
    if (!isForbidden(error)) throw error;
    refused(error);
  }
  return said;
}

function missing(name: string): never {
  throw new Failure(EXIT.usage, `--namespace: there is no namespace "${name}"; kubectl get namespaces lists them`);
}

/** Returns a function that calls `tell` once for each key. */
function onceFor<T>(keyOf: (about: T) => string, tell: (about: T) => void): (about: T) => void {
  const told = new Set<string>();
  return (about) => {
    if (!told.has(keyOf(about))) tell(about);
    told.add(keyOf(about));
  };
}

function complaintTo(log: Log): (error: ApiError) => void {
  return ({ message: reason }) => log.warn({ reason }, "cannot read namespaces: ignoring their label ebb.dev/reap");
}

interface Reading {
  /** Called if the account may not read the namespace. */
  readonly refused: (error: ApiError) => void;
  /** Called if it does not exist; it may still come. */
  readonly missing: (name: string) => void;
  readonly signal: AbortSignal;
}

/** Reads the label of one namespace. Resolves with undefined if it has none, does not exist or may not be read. */
async function readLabel(api: ApiClient, name: string, { refused, missing, signal }: Reading) {
  try {
    return labelOf(await api.get(`${COLLECTION}/${name}`, { signal }));
  } catch (error) {
    if (isNotFound(error)) missing(name);
    else if (isForbidden(error)) refused(error);
    else throw error;
    return undefined;
  }
}

/** Sets or removes a namespace's label, and returns whether that is a change. */
function put(said: Map<string, string>, name: string, label: string | undefined): boolean {
  if (said.get(name) === label) return false;
  if (label === undefined) said.delete(name);
  else said.set(name, label);
  return true;
}

function labelOf({ metadata }: KubeObject): string | undefined {
  return (metadata.labels as Record<string, string> | undefined)?.[REAP];
}

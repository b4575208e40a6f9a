import { EXIT, Failure } from "../../shared/core/exit.ts";
import type { Log } from "../../shared/output/log.ts";
import { type ApiError, isForbidden, isNotFound } from "../api/api-error.ts";
import type { ApiClient } from "../api/client.ts";
import type { Context } from "../api/context.ts";
import type { KubeObject } from "../api/core/objects.ts";
import { pagesAt } from "../api/list.ts";
import { keepTrying } from "../controller/keep-trying.ts";
import { pause } from "../controller/pause.ts";
import { createReflector } from "../controller/reflector.ts";
import { whenAborted } from "../controller/stops.ts";
import { REAP } from "./core/pod-view.ts";

/** Which namespaces to read. */
export interface WatchedNamespaces {
  /** Empty: all. */
  readonly namespaces: readonly string[];
  /** The milliseconds between two lists of all namespaces. */
  readonly resyncMs: number;
}

/** A cache of the label ebb.dev/reap of namespaces. */
interface Namespaces {
  /**
   * Keeps the cache up to date until the signal is aborted. Calls `changed` with the name of a namespace whose label
   * changed.
   */
  run(changed: (name: string) => void, signal: AbortSignal): Promise<void>;
  /** Resolves when the labels are known, or it is known that they may not be read; or when the signal is aborted. */
  synced(signal: AbortSignal): Promise<void>;
  /** Returns the label's value by namespace. Namespaces without the label are absent. */
  labels(): ReadonlyMap<string, string>;
}

/** The pause between two reads of the named namespaces, and its part for each of many: --qps is for pods, too. */
const READ_AGAIN_MS = 5000;
const EACH_MS = 500;
const COLLECTION = "/api/v1/namespaces";
const query = { labelSelector: REAP };
const message = "cannot watch namespaces: retrying";

/**
 * Creates a cache of the label ebb.dev/reap of the named namespaces, or of all; `run` fills it. Named ones are read one
 * by one every 5 s: a Role in each can allow that, but no list or watch (read: apiserver, request/requestinfo.go). All
 * are listed and watched. While they may not be read (403), the label counts as it was last known, at first as absent.
 * The log says that once, and once of each named one that it does not exist.
 */
export function watchNamespaces(api: ApiClient, { namespaces, resyncMs }: WatchedNamespaces, log: Log): Namespaces {
  const synced = Promise.withResolvers<void>();
  const absent = new Set<string>();
  const labels = createLabels(api, log, (namespace) => {
    if (!absent.has(namespace)) log.warn({ namespace }, "no such namespace: waiting for it");
    absent.add(namespace);
  });
  const watchAll = (changed: (name: string) => void, signal: AbortSignal): Promise<void> => {
    const reflector = createReflector(
      api,
      { collection: COLLECTION, query, resyncMs, keyOf: nameOf },
      {
        seen: (each) => labels.put(nameOf(each), labelOf(each), changed),
        gone: (name) => labels.put(name, undefined, changed),
        listed: synced.resolve,
      },
    );
    const failed = (error: Error): void => {
      if (isForbidden(error)) synced.resolve();
    };
    return reflector.run({ message, failed, log, signal });
  };
  return {
    async run(changed, signal) {
      if (namespaces.length === 0) return await watchAll(changed, signal);
      const once = async (): Promise<void> => {
        for (const name of namespaces) await labels.read(name, signal, changed);
        synced.resolve();
        await pause(Math.max(READ_AGAIN_MS, EACH_MS * namespaces.length), signal);
      };
      await keepTrying(once, { message, log, signal });
    },
    synced: (signal) => Promise.race([synced.promise, whenAborted(signal)]),
    labels: () => labels.values,
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
  const labels = createLabels(api, log, (name) => {
    throw new Failure(EXIT.usage, `--namespace: there is no namespace "${name}"; kubectl get namespaces lists them`);
  });
  for (const name of namespaces) await labels.read(name, signal);
  if (namespaces.length > 0) return labels.values;
  try {
    for await (const { items } of pagesAt<KubeObject>(api, COLLECTION, query, { signal }))
      for (const each of items) labels.put(each.metadata.name, labelOf(each));
  } catch (error) {
    if (!isForbidden(error)) throw error;
    labels.refused(error);
  }
  return labels.values;
}

/** Creates the labels that are known. `missing` is called with a namespace that is to be read, and does not exist. */
function createLabels(api: ApiClient, log: Log, missing: (name: string) => void) {
  const values = new Map<string, string>();
  let isRefused = false;
  const put = (name: string, label: string | undefined, changed?: (name: string) => void): void => {
    if (values.get(name) === label) return;
    if (label === undefined) values.delete(name);
    else values.set(name, label);
    changed?.(name);
  };
  const refused = ({ message: reason }: ApiError): void => {
    if (!isRefused) log.warn({ reason }, "cannot read namespaces: ignoring their label ebb.dev/reap");
    isRefused = true;
  };
  return {
    values,
    put,
    refused,
    /** Reads the label of one namespace. None if it does not exist; as it was if it may not be read. */
    async read(name: string, signal: AbortSignal, changed?: (name: string) => void): Promise<void> {
      try {
        put(name, labelOf(await api.get(`${COLLECTION}/${name}`, { signal })), changed);
      } catch (error) {
        if (isForbidden(error)) return refused(error);
        if (!isNotFound(error)) throw error;
        missing(name);
        put(name, undefined, changed);
      }
    },
  };
}

function nameOf({ metadata }: KubeObject): string {
  return metadata.name;
}

function labelOf({ metadata }: KubeObject): string | undefined {
  return (metadata.labels as Record<string, string> | undefined)?.[REAP];
}

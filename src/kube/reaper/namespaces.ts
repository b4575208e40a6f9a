import { REAP } from "../../core/reap/policy.ts";
import { EXIT, Failure } from "../../core/run/exit.ts";
import type { Log } from "../../system/output/log.ts";
import { ApiError, isNotFound } from "../api/api-error.ts";
import type { ApiClient, KubeObject } from "../api/client.ts";
import { listAt } from "../api/list.ts";
import { withQuery } from "../api/query.ts";
import { keepTrying } from "../controller/keep-trying.ts";
import { pause } from "../controller/pause.ts";
import { whenAborted } from "../controller/stops.ts";

/** Which namespaces to read. */
export interface WatchedNamespaces {
  /** Empty: all. */
  readonly namespaces: readonly string[];
  /** How often named namespaces are read again, and how long to wait if they may not be read. */
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
const message = "cannot watch namespaces: retrying";

/**
 * Creates a cache of the label ebb.dev/reap of the named namespaces, or of all; `run` fills it. Named ones are read one
 * by one every `resyncMs`, all are listed and watched. The log says once that they may not be read, in which case the
 * label counts as absent, and once of each named one that it does not exist.
 */
export function watchNamespaces(api: ApiClient, { namespaces, resyncMs }: WatchedNamespaces, log: Log): Namespaces {
  const said = new Map<string, string>();
  const known = Promise.withResolvers<void>();
  const refused = complainOnce(log);
  const missing = complainOfEach(log);
  const put = (name: string, word: string | undefined, changed: (name: string) => void): void => {
    if (said.get(name) === word) return;
    if (word === undefined) said.delete(name);
    else said.set(name, word);
    changed(name);
  };
  const read = namespaces.length === 0 ? readAll : readNamed(namespaces);
  return {
    run: (changed, signal) =>
      keepTrying(
        async (isFine) => {
          const told = (name: string, word: string | undefined): void => put(name, word, changed);
          const all = (): void => {
            isFine();
            known.resolve();
          };
          await read(api, { said, told, all, refused, missing, resyncMs, signal });
        },
        { message, log, signal },
      ),
    known: (signal) => Promise.race([known.promise, whenAborted(signal)]),
    said: () => said,
  };
}

function complainOnce(log: Log): (error: ApiError) => void {
  let isRefused = false;
  return ({ message: reason }) => {
    if (!isRefused) log.warn({ reason }, "cannot read namespaces: ignoring their label ebb.dev/reap");
    isRefused = true;
  };
}

function complainOfEach(log: Log): (name: string) => void {
  const missing = new Set<string>();
  return (namespace) => {
    if (missing.has(namespace)) return;
    missing.add(namespace);
    log.warn({ namespace }, "no such namespace: waiting for it");
  };
}

/**
 * Reads the label ebb.dev/reap of the namespaces once, and resolves with its value by namespace. If they may not be
 * read, the log says so, and the label counts as absent. Rejects with ApiError if the API server does not answer, with
 * Failure(64) if a named one does not exist.
 */
export async function readNamespaces(
  api: ApiClient,
  { namespaces, resyncMs }: WatchedNamespaces,
  log: Log,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const said = new Map<string, string>();
  const told = (name: string, word: string | undefined) => void (word !== undefined && said.set(name, word));
  const done = new AbortController();
  const read = namespaces.length === 0 ? readAll : readNamed(namespaces);
  const ending = AbortSignal.any([signal, done.signal]);
  try {
    await read(api, {
      said,
      told,
      all: () => done.abort(),
      refused: complainOnce(log),
      missing,
      resyncMs,
      signal: ending,
    });
  } catch (error) {
    if (!done.signal.aborted) throw error;
  }
  return said;
}

function missing(name: string): never {
  throw new Failure(EXIT.usage, `--namespace: there is no namespace "${name}"; kubectl get namespaces lists them`);
}

/** What reading namespaces calls. */
interface Reading {
  readonly said: ReadonlyMap<string, string>;
  /** Takes the label's value of a namespace; undefined: it has none. */
  readonly told: (name: string, word: string | undefined) => void;
  /** Called after each namespace was told. */
  readonly all: () => void;
  /** Called if the account may not read namespaces. */
  readonly refused: (error: ApiError) => void;
  /** Called with a named namespace that does not exist; it may still come. */
  readonly missing?: (name: string) => void;
  readonly resyncMs: number;
  readonly signal: AbortSignal;
}

/** Lists and watches the labelled namespaces. The watch reports one that loses the label as deleted. */
async function readAll(api: ApiClient, { said, told, all, refused, resyncMs, signal }: Reading): Promise<void> {
  const asked = { labelSelector: REAP };
  const list = await unlessRefused(listAt<KubeObject>(api, withQuery(COLLECTION, asked), { signal }), refused);
  const names = new Set(list?.items.map((each) => each.metadata.name));
  for (const each of list?.items ?? []) told(each.metadata.name, wordOf(each));
  for (const name of [...said.keys()]) if (!names.has(name)) told(name, undefined);
  all();
  if (list === undefined) return await pause(resyncMs, signal);
  const query = { ...asked, resourceVersion: list.metadata.resourceVersion };
  for await (const { type, object } of api.watch<KubeObject>(COLLECTION, query, signal)) {
    if (type !== "BOOKMARK") told(object.metadata.name, type === "DELETED" ? undefined : wordOf(object));
  }
}

/**
 * Returns a function that reads the named namespaces one by one, and then waits `resyncMs`: a Role in each can allow
 * that, but no list.
 */
function readNamed(namespaces: readonly string[]) {
  return async (api: ApiClient, { told, all, refused, missing, resyncMs, signal }: Reading): Promise<void> => {
    for (const name of namespaces) {
      const namespace = await unlessRefused(api.get(`${COLLECTION}/${name}`, { signal }), refused, () =>
        missing?.(name),
      );
      told(name, namespace && wordOf(namespace));
    }
    all();
    await pause(resyncMs, signal);
  };
}

/** Awaits an answer. Resolves with undefined if the namespace does not exist or may not be read. */
async function unlessRefused<T>(
  asked: Promise<T>,
  refused: (error: ApiError) => void,
  missing?: () => void,
): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isNotFound(error)) {
      missing?.();
      return undefined;
    }
    if (!(error instanceof ApiError && error.status === 403)) throw error;
    refused(error);
    return undefined;
  }
}

function wordOf({ metadata }: KubeObject): string | undefined {
  return (metadata.labels as Record<string, string> | undefined)?.[REAP];
}

import { ApiError } from "../../../../src/cluster/api/api-error.ts";
import type { Pod } from "../../../../src/cluster/api/core/objects.ts";
import type { Stream } from "../../../../src/cluster/api/stream.ts";
import { type MethodKind, methodKinds } from "../../../../src/cluster/reaper/core/methods.ts";
import { viewOf } from "../../../../src/cluster/reaper/core/pod-view.ts";
import type { ReapPolicy } from "../../../../src/cluster/reaper/core/policy.ts";
import { createSender } from "../../../../src/cluster/reaper/methods/send.ts";
import type { PodRecords } from "../../../../src/cluster/reaper/pod-record.ts";
import { createReconciler, type ReconcilerContext } from "../../../../src/cluster/reaper/reconciler.ts";
import type { FakeClock } from "../../../harness/fake-clock.ts";
import { onChannel } from "../../../stand-in/api-server/api-server.ts";
import { collectLog } from "../collect-log.ts";
import { createFakeApi } from "../fake-api.ts";
import { ended, type Json, podOf, running } from "./core/stuck-pods.ts";

export interface Given
  extends Partial<Pick<ReconcilerContext, "concurrency" | "isDryRun" | "isOnce" | "send" | "turn">> {
  /** The value of --after, in ms. */
  readonly afterMs?: number;
  readonly methods?: readonly MethodKind[];
}

/** What the far end of a stream sends, in order; then it waits. Of a port-forward after each request. */
type Answers = readonly Uint8Array[];

export const success: Answers = [onChannel(3, JSON.stringify({ status: "Success" }))];
export const noCommand: Answers = [
  onChannel(3, JSON.stringify({ status: "Failure", message: "no such file or directory" })),
];

const pathOf = (name: string): string => `/api/v1/namespaces/shop/pods/${name}`;

/** Returns a pod whose app has ended and that its Envoy keeps, unless that has ended, too. `/stop` ends its Envoy. */
export function podWith(envoy: Json, name = "p", more: Json = {}): Json {
  const { uid = `uid-${name}`, annotations, app = ended(0, -0.001) } = more;
  const chosen = annotations ?? { "ebb.dev/reap": "true", "ebb.dev/reap-exec.envoy": "/stop" };
  const metadata = { name, namespace: "shop", uid, annotations: chosen };
  return podOf({ containers: { app: app as Json, envoy }, metadata });
}

/** Fails as the API server does, with a status, or without an answer. */
export function fail(status: number | undefined, message: string, retryAfterMs?: number): never {
  throw new ApiError(message, { status, reason: status === undefined ? "Timeout" : "X", retryAfterMs });
}

/**
 * Runs a reconciler on a clock that stands still, with an API server in memory. What happens is in `told`, with what
 * each method and attempt came to, and its Events.
 */
export function reconcile(clock: FakeClock, { afterMs = 0, methods = methodKinds, ...given }: Given = {}) {
  const api = createFakeApi();
  const records: PodRecords = new Map();
  const told: string[] = [];
  const requests: string[] = [];
  const open = { count: 0 };
  const policy: ReapPolicy = { afterMs, allJobs: false, allowsReapExec: true, methods, namespaces: new Map() };
  /** What happens at a request, before it is answered. */
  const world = {
    get: async (_name: string): Promise<unknown> => undefined,
    exec: async (_name: string): Promise<Answers> => success,
    forward: async (_name: string): Promise<Answers> => [],
    patch: async (_name: string): Promise<unknown> => undefined,
  };
  const nameIn = (path: string): string => /\/pods\/([^/?]+)/.exec(path)?.[1] ?? "";
  const { get, patch } = api;
  api.get = async <T>(path: string) => {
    requests.push(`GET ${nameIn(path)}`);
    await world.get(nameIn(path));
    return await get<T>(path);
  };
  api.patch = async <T>(path: string, operations: readonly object[]) => {
    requests.push(`PATCH ${nameIn(path)}`);
    await world.patch(nameIn(path));
    return await patch<T>(path, operations);
  };
  api.stream = async (path, _, asking) => {
    const isExec = path.includes("/exec?");
    requests.push(`${isExec ? "exec" : "forward"} ${nameIn(path)}`);
    const answers = await (isExec ? world.exec : world.forward)(nameIn(path));
    open.count += 1;
    return streamOf(answers, isExec, { signal: asking?.signal, closed: () => (open.count -= 1) });
  };
  const log = collectLog();
  const stop = new AbortController();
  const turn = async () => undefined;
  const reconciler = createReconciler({
    ...{ records, api, turn, concurrency: 10, isDryRun: false, isOnce: false, log },
    send: createSender({ api, image: "i", log }),
    policy: () => policy,
    events: { write: async (_, { reason, note }) => void told.push(`${reason}: ${note}`) },
    metrics: {
      judged: () => undefined,
      sent: (method, result) => told.push(`${method}: ${result}`),
      attempted: (outcome) => told.push(outcome),
    },
    userErrors: { update: () => undefined },
    ...given,
  });
  const show = (name: string): void => {
    const pod = api.objects.get(pathOf(name));
    if (pod !== undefined && given.isOnce !== true) reconciler.changed(viewOf(pod as Pod));
  };
  const start = () =>
    reconciler.run(stop.signal).then(
      () => undefined,
      (error) => error,
    );
  const failed = given.isOnce === true ? undefined : start();
  return {
    ...{ reconciler, records, told, requests, log, world, open, stop, api, failed },
    /** Writes a pod, and shows it to a watch. */
    put(pod: Json): void {
      const { name } = pod.metadata as { name: string };
      api.put(pathOf(name), pod);
      show(name);
    },
    /** Writes a pod of which no watch tells. */
    putUnseen: (pod: Json) => api.put(pathOf((pod.metadata as { name: string }).name), pod),
    /** Reconciles the pods that are there, as --once does. */
    list(): void {
      for (const pod of api.objects.values()) reconciler.changed(viewOf(pod as Pod));
      void start();
    },
    /** Lets that much time pass, in steps in which all that is due is done. */
    async pass(ms: number): Promise<void> {
      await done();
      for (let left = ms; left > 0; left -= STEP_MS) {
        clock.pass(Math.min(left, STEP_MS));
        await done();
      }
    },
  };
}

const STEP_MS = 250;

/** Resolves when all that needs no time is done. */
async function done(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve));
}

interface StreamLife {
  readonly signal: AbortSignal | undefined;
  readonly closed: () => void;
}

function streamOf(answers: Answers, isExec: boolean, { signal, closed }: StreamLife): Stream {
  const port = [0, 1].map((channel) => onChannel(channel, "12"));
  const messages = isExec ? [...answers] : port;
  let wake = (): void => undefined;
  return {
    send() {
      messages.push(...answers);
      wake();
    },
    async next() {
      while (messages.length === 0) {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        wake = resolve;
        signal?.addEventListener("abort", () => reject(signal.reason));
        signal?.throwIfAborted();
        await promise;
      }
      return messages.shift();
    },
    [Symbol.dispose]: closed,
  };
}

/** Ends the Envoy of a pod. */
export const endedEnvoy = (name = "p"): Json => podWith(ended(0), name);
export const stuck = (name = "p"): Json => podWith(running, name);

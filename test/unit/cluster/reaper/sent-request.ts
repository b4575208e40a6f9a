import type { Pod } from "../../../../src/cluster/api/core/objects.ts";
import { throttleClient } from "../../../../src/cluster/controller/throttle.ts";
import type { EndResult, Unanswered } from "../../../../src/cluster/reaper/core/attempt.ts";
import type { Method } from "../../../../src/cluster/reaper/core/methods.ts";
import { viewOf } from "../../../../src/cluster/reaper/core/pod-view.ts";
import { createSender } from "../../../../src/cluster/reaper/methods/send.ts";
import type { PodTarget } from "../../../../src/cluster/reaper/methods/target.ts";
import { type StandInApi, startStandInApi } from "../../../stand-in/api-server/api-server.ts";
import { collectLog } from "../collect-log.ts";
import { ended, type Json, podOf, running } from "./core/stuck-pods.ts";

export const POD = "/api/v1/namespaces/shop/pods/p";

export const annotations = { "ebb.dev/reap": "true" };

export const metadata = { name: "p", namespace: "shop", uid: "uid-1", resourceVersion: "7", annotations };

/** Returns a pod whose app has ended while its Envoy runs. `more` replaces parts of it. */
export const stuck = (uid = "uid-1", more: Json = {}): Json =>
  podOf({
    containers: { app: ended(0), envoy: { state: running, spec: { image: "envoyproxy/envoy:v1" } } },
    metadata: { ...metadata, uid },
    ...more,
  });

/** Starts a stand-in API server with that pod. */
export function withPod(pod: Json = stuck()): StandInApi {
  const cluster = startStandInApi();
  cluster.objects.set(POD, pod);
  return cluster;
}

export interface Sent {
  readonly result: EndResult | Unanswered;
  readonly log: ReturnType<typeof collectLog>;
}

/** Returns the pod at POD, as a look has just shown it. */
export async function targetIn({ api }: StandInApi, signal = new AbortController().signal): Promise<PodTarget> {
  const askedAt = performance.now();
  const object = await api.get<Pod>(POD, { retries: 0, signal });
  return { object, pod: viewOf(object), askedAt, signal };
}

/** Looks at the pod at POD, and sends a request to its Envoy. */
export async function send(cluster: StandInApi, method: Method, signal?: AbortSignal): Promise<Sent> {
  const log = collectLog();
  const api = throttleClient(cluster.api, async () => undefined);
  const sender = createSender({ api, image: "ebb:1", log });
  const target = await targetIn(cluster, signal);
  const result = await sender({ container: "envoy", method, patienceMs: 90_000 }, target);
  return { result, log };
}

export const taken: EndResult = { kind: "taken" };

/** Returns the result that a request was refused. */
export const refused = (why: string): EndResult => ({ kind: "refused", why });

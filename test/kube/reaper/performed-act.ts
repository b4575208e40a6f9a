import type { Method } from "../../../src/core/reap/methods.ts";
import type { Result } from "../../../src/core/reap/reconcile.ts";
import { createActs } from "../../../src/kube/reaper/act/act.ts";
import { ended, type Json, podOf, running } from "../../core/reap/stuck-pods.ts";
import { type StandInApi, startStandInApi } from "../api-server/api-server.ts";
import { collectLog } from "../collect-log.ts";

export const POD = "/api/v1/namespaces/shop/pods/p";

export const gone = "another one has its name";

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

export interface Done {
  readonly result: Result;
  readonly log: ReturnType<typeof collectLog>;
}

/**
 * Performs a method on the Envoy of the pod at POD. The objection `gone` is raised if the pod has another uid. `turn`
 * appears in `cluster.requests` each time the act waits for its turn.
 */
export async function perform(cluster: StandInApi, method: Method, freshMs = 60_000): Promise<Done> {
  const log = collectLog();
  const turn = async () => void cluster.requests.push("turn");
  const result = await createActs({ api: cluster.api, turn, image: "ebb:1", freshMs, log })(
    { container: "envoy", method, patienceMs: 90_000 },
    {
      pod: { namespace: "shop", name: "p", uid: "uid-1" },
      objection: (pod) => ((pod as { metadata: Json }).metadata.uid === "uid-1" ? undefined : gone),
      signal: new AbortController().signal,
    },
  );
  return { result, log };
}

export const taken: Result = { kind: "taken" };

/** Returns the result that an act was refused. */
export const refused = (why: string): Result => ({ kind: "refused", why });

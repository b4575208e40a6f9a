import { formatDuration } from "../../../core/base/duration.ts";
import { type JsonObject, valueAt } from "../../../core/base/json.ts";
import { restrictedSecurity } from "../../../core/inject/install.ts";
import { EPHEMERAL_PREFIX, ownEphemerals } from "../../../core/reap/ephemeral.ts";
import type { Method } from "../../../core/reap/methods.ts";
import { viewOf } from "../../../core/reap/pod-view.ts";
import type { Result } from "../../../core/reap/reconcile.ts";
import type { KubeObject } from "../../api/client.ts";
import { type Acting, type ActSettings, pathOf, refusedBecause } from "./acting.ts";

type Ephemeral = Extract<Method, { kind: "ephemeral" }> & { readonly patienceMs: number };

/**
 * Adds an ephemeral container of ebb's image, which shares the pod's loopback and quits the sidecar. Resolves as soon
 * as it is added. Rejects with ApiError: 422 if another pod has the name, 409 if the pod has changed since it was read.
 */
export async function actByEphemeral(method: Ephemeral, acting: Acting, settings: ActSettings): Promise<Result> {
  const { pod, objection, signal } = acting;
  const fresh = await settings.api.get(pathOf(pod), { signal, retries: 0 });
  const why = objection(fresh);
  if (why !== undefined) return refusedBecause(why);
  await settings.api.patch(`${pathOf(pod)}/ephemeralcontainers`, patchOf(method, fresh, settings), {
    signal,
    retries: 0,
  });
  return { kind: "taken" };
}

function patchOf(method: Ephemeral, pod: KubeObject, settings: ActSettings): readonly object[] {
  const container = containerOf(method, pod, settings);
  const view = viewOf(pod);
  const list = "/spec/ephemeralContainers";
  return [
    { op: "test", path: "/metadata/uid", value: view.uid },
    { op: "replace", path: "/metadata/resourceVersion", value: pod.metadata.resourceVersion }, // else a Conflict
    view.ephemeralContainers.length === 0
      ? { op: "add", path: list, value: [container] }
      : { op: "add", path: `${list}/-`, value: container },
  ];
}

function containerOf({ args, env, patienceMs }: Ephemeral, pod: KubeObject, settings: ActSettings): JsonObject {
  const { image, imagePullPolicy } = settings;
  return {
    name: `${EPHEMERAL_PREFIX}${ownEphemerals(viewOf(pod)).length + 1}`,
    image,
    ...(imagePullPolicy !== undefined && { imagePullPolicy }),
    command: ["/ebb"],
    args: [...args, "--quit-timeout", formatDuration(patienceMs)],
    ...(env.length > 0 && { env }),
    terminationMessagePolicy: "FallbackToLogsOnError",
    securityContext: { ...userOf(pod), ...restrictedSecurity(pod) },
  };
}

/**
 * Returns the fields for the ephemeral container's user: none if the pod or OpenShift assigns one, else 65532, because
 * the kubelet may refuse root.
 */
function userOf(pod: KubeObject): JsonObject {
  const isPods = typeof valueAt(pod, ["spec", "securityContext", "runAsUser"]) === "number";
  const isOpenShift = viewOf(pod).annotations.has("openshift.io/scc");
  return isPods || isOpenShift ? {} : { runAsUser: 65532, runAsGroup: 65532 };
}

import { formatDuration } from "../../../shared/core/duration.ts";
import { type JsonObject, valueAt } from "../../../shared/core/json.ts";
import type { KubeObject } from "../../api/core/objects.ts";
import { restrictedSecurity } from "../../core/restricted-security.ts";
import type { EndResult } from "../core/attempt.ts";
import { ownEphemerals } from "../core/ephemeral.ts";
import type { Method } from "../core/methods.ts";
import { EPHEMERAL_PREFIX } from "../core/pod-view.ts";
import { type PodTarget, pathOf, type SendSettings } from "./target.ts";

type Ephemeral = Extract<Method, { kind: "ephemeral" }> & { readonly patienceMs: number };

/**
 * Adds an ephemeral container of ebb's image, which shares the pod's loopback and quits the sidecar. Resolves as soon
 * as it is added. Rejects with ApiError: 422 if another pod has the name, 409 if the pod has changed since it was read.
 */
export async function sendByEphemeral(
  method: Ephemeral,
  { object, pod, signal }: PodTarget,
  settings: Pick<SendSettings, "api" | "image" | "imagePullPolicy">,
): Promise<EndResult> {
  const name = `${EPHEMERAL_PREFIX}${ownEphemerals(pod).length + 1}`;
  // its container runs: that nothing listens there is a failure, with ebb's reason
  const args = [...method.args, "--quit-timeout", formatDuration(method.patienceMs), "--ignore-not-found=false"];
  const container = containerOf({ name, args, env: method.env }, object, settings);
  const isFirst = pod.ephemeralContainers.length === 0;
  const operations = [
    { op: "test", path: "/metadata/uid", value: pod.uid },
    { op: "replace", path: "/metadata/resourceVersion", value: object.metadata.resourceVersion }, // else a Conflict
    { op: "add", path: `${LIST}${isFirst ? "" : "/-"}`, value: isFirst ? [container] : container },
  ];
  await settings.api.patch(`${pathOf(pod)}/ephemeralcontainers`, operations, { signal });
  return { kind: "taken" };
}

const LIST = "/spec/ephemeralContainers";

/** An ephemeral container that runs ebb. */
interface EbbContainer {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: readonly JsonObject[];
}

function containerOf(
  { name, args, env }: EbbContainer,
  pod: KubeObject,
  { image, imagePullPolicy }: Pick<SendSettings, "image" | "imagePullPolicy">,
): JsonObject {
  return {
    name,
    image,
    ...(imagePullPolicy !== undefined && { imagePullPolicy }),
    command: ["/ebb"],
    args,
    ...(env.length > 0 && { env }),
    terminationMessagePolicy: "FallbackToLogsOnError",
    securityContext: { ...userOf(pod), ...restrictedSecurity(pod), seccompProfile: { type: "RuntimeDefault" } },
  };
}

/**
 * Returns the fields for the ephemeral container's user: none if the pod or OpenShift assigns one, else 65532, because
 * the kubelet may refuse root.
 */
function userOf(pod: KubeObject): JsonObject {
  const isPods = typeof valueAt(pod, ["spec", "securityContext", "runAsUser"]) === "number";
  const isOpenShift = pod.metadata.annotations?.["openshift.io/scc"] !== undefined;
  return isPods || isOpenShift ? {} : { runAsUser: 65532, runAsGroup: 65532 };
}

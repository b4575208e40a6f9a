import { baseName, shortened } from "../../../shared/core/text.ts";
import { counted } from "../../../shared/core/wording.ts";
import type { Container, ContainerStatus, Pod } from "../../api/core/objects.ts";
import { isNamed, VOLUME } from "../../inject/core/annotation-names.ts";
import { type Finding, ofPod } from "./finding.ts";

/** Reasons of a container that waits for its turn, or for its image and volumes: nothing has failed. */
const usual = ["PodInitializing", "ContainerCreating"];

/** The most characters of what others say. */
export const LONGEST = 500;

/**
 * Returns a finding for a pod that does not start because of how ebb gets into it, with the kubelet's reason: its init
 * container that copies ebb (`ebb-install`, or another that runs `ebb install`) cannot start or has failed, or the image
 * that is ebb's volume cannot be pulled. Returns undefined if nothing is wrong with either.
 */
export function initFinding(pod: Pod): Finding | undefined {
  const message = copyFailure(pod) ?? volumeFailure(pod);
  return message === undefined ? undefined : ofPod(pod, message);
}

function copyFailure({ spec, status }: Pod): string | undefined {
  const copies = spec.initContainers?.filter(copiesEbb).map(({ name }) => name);
  for (const each of status?.initContainerStatuses ?? []) {
    const why = copies?.includes(each.name) ? failureOf(each, correctImage) : undefined;
    if (why !== undefined) return `its init container ${each.name}, which copies ebb, ${why}`;
  }
  return undefined;
}

/** The kubelet says of a container that it cannot pull the image of a volume that is mounted there. */
function volumeFailure({ spec, status }: Pod): string | undefined {
  const reference = spec.volumes?.find(isNamed(VOLUME))?.image?.reference;
  if (reference === undefined) return undefined;
  for (const { name, state } of status?.containerStatuses ?? []) {
    const { reason = "", message } = state?.waiting ?? {};
    if (reason.includes("Image") && message?.includes(reference))
      return `its container ${name} cannot start, because ebb's volume is an image: ${sentence(reason, message)}${correctImage}`;
  }
  return undefined;
}

function copiesEbb({ command: [program = "", word] = [] }: Container): boolean {
  return word === "install" && baseName(program) === "ebb";
}

/**
 * Returns why a container does not start, or how it ended last if it fails again and again, and what to do; `ofImage` if
 * its image cannot be pulled. Undefined if neither is so, or it only waits.
 */
export function failureOf({ state, lastState, restartCount }: ContainerStatus, ofImage: string): string | undefined {
  const { reason, message } = state?.waiting ?? {};
  const { exitCode = 0, reason: how, message: last } = state?.terminated ?? lastState?.terminated ?? {};
  const isTried = reason === undefined || reason === "CrashLoopBackOff";
  if (isTried && exitCode !== 0) {
    const again = restartCount === 0 ? "fails" : `fails (${counted(restartCount, "restart")})`;
    return `${again}: ${sentence(`exit code ${exitCode}, ${how}`, last)}`;
  }
  if (reason === undefined || usual.includes(reason)) return undefined;
  return `cannot start: ${sentence(reason, message)}${adviceOn(reason, message, ofImage)}`;
}

/** Joins a reason and its message, without what the kubelet says of which pod it is. */
function sentence(reason: string, message = ""): string {
  const [first = ""] = message.endsWith(")") ? message.split(" (pod: ", 1) : [message];
  const text = first.trim();
  return shortened(text === "" ? reason : `${reason}: ${text}`, LONGEST);
}

const correctImage = "; correct --image of the webhook or of ebb inject, or give the pod its imagePullSecrets";

function adviceOn(reason: string, message: string | undefined, ofImage: string): string {
  if (message?.includes("runAsNonRoot"))
    return "; its image needs a USER that is a number other than 0, as Dockerfile.distroless sets it, or the pod needs a securityContext.runAsUser";
  return reason.includes("Image") ? ofImage : "";
}

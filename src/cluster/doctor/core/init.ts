import { type JsonObject, listOf, objectOf, textOf } from "../../../shared/core/json.ts";
import { baseName, shortened } from "../../../shared/core/text.ts";
import { counted } from "../../../shared/core/wording.ts";
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
export function initFinding(pod: JsonObject): Finding | undefined {
  const message = copyFailure(pod) ?? volumeFailure(pod);
  return message === undefined ? undefined : ofPod(pod, message);
}

function copyFailure({ spec, status }: JsonObject): string | undefined {
  const copies = listOf(objectOf(spec).initContainers).map(objectOf).filter(copiesEbb);
  const names = new Set(copies.map(({ name }) => name));
  for (const each of listOf(objectOf(status).initContainerStatuses).map(objectOf)) {
    const why = names.has(each.name) ? failureOf(each, correctImage) : undefined;
    if (why !== undefined) return `its init container ${each.name}, which copies ebb, ${why}`;
  }
  return undefined;
}

/** The kubelet says of a container that it cannot pull the image of a volume that is mounted there. */
function volumeFailure({ spec, status }: JsonObject): string | undefined {
  const volumes = listOf(objectOf(spec).volumes).map(objectOf);
  const own = volumes.find(isNamed(VOLUME));
  const reference = textOf(objectOf(own?.image).reference);
  if (reference === undefined) return undefined;
  for (const { name, state } of listOf(objectOf(status).containerStatuses).map(objectOf)) {
    const { reason, message } = objectOf(objectOf(state).waiting);
    if (typeof reason === "string" && /Image/.test(reason) && textOf(message)?.includes(reference))
      return `its container ${name} cannot start, because ebb's volume is an image: ${sentence(reason, message)}${correctImage}`;
  }
  return undefined;
}

function copiesEbb({ command }: JsonObject): boolean {
  const [program, word] = listOf(command);
  return word === "install" && baseName(textOf(program) ?? "") === "ebb";
}

/**
 * Returns why a container does not start, or how it ended last if it fails again and again, and what to do; `ofImage` if
 * its image cannot be pulled. Undefined if neither is so, or it only waits.
 */
export function failureOf({ state, lastState, restartCount }: JsonObject, ofImage: string): string | undefined {
  const { waiting, terminated } = objectOf(state);
  const { reason, message } = objectOf(waiting);
  const { exitCode, reason: how, message: last } = objectOf(terminated ?? objectOf(lastState).terminated);
  const isTried = reason === undefined || reason === "CrashLoopBackOff";
  if (isTried && typeof exitCode === "number" && exitCode !== 0) {
    const restarts = Number(restartCount ?? 0);
    const again = restarts === 0 ? "fails" : `fails (${counted(restarts, "restart")})`;
    return `${again}: ${sentence(`exit code ${exitCode}, ${how}`, last)}`;
  }
  if (typeof reason !== "string" || usual.includes(reason)) return undefined;
  return `cannot start: ${sentence(reason, message)}${adviceOn(reason, textOf(message) ?? "", ofImage)}`;
}

/** Joins a reason and its message, without what the kubelet says of which pod it is. */
function sentence(reason: string, message: unknown): string {
  const whole = textOf(message) ?? "";
  const [first = ""] = whole.endsWith(")") ? whole.split(" (pod: ", 1) : [whole];
  const text = first.trim();
  return shortened(text === "" ? reason : `${reason}: ${text}`, LONGEST);
}

const correctImage = "; correct --image of the webhook or of ebb inject, or give the pod its imagePullSecrets";

function adviceOn(reason: string, message: string, ofImage: string): string {
  if (message.includes("runAsNonRoot"))
    return "; its image needs a USER that is a number other than 0, as Dockerfile.distroless sets it, or the pod needs a securityContext.runAsUser";
  if (/Image/.test(reason)) return ofImage;
  return "";
}

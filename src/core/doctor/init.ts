import { type JsonObject, listOf, objectOf, textOf } from "../base/json.ts";
import { shortened } from "../base/text.ts";
import type { Finding } from "./finding.ts";

/** Reasons of a container that waits for its turn, or for its image and volumes: nothing has failed. */
const usual = ["PodInitializing", "ContainerCreating"];

const LONGEST = 500;

/**
 * Returns a finding for a pod whose init container that copies ebb (`ebb-install`, or another that runs `ebb install`)
 * does not start, or has failed: with the kubelet's reason. Returns undefined if nothing is wrong with it.
 */
export function initFinding({ metadata, spec, status }: JsonObject): Finding | undefined {
  const names = listOf(objectOf(spec).initContainers).map(objectOf).filter(copiesEbb);
  const own = new Set(names.map(({ name }) => name));
  for (const each of listOf(objectOf(status).initContainerStatuses).map(objectOf)) {
    const why = own.has(each.name) ? failureOf(each) : undefined;
    if (why === undefined) continue;
    const { namespace, name } = objectOf(metadata);
    const message = `its init container ${each.name}, which copies ebb, ${why}`;
    return { object: `Pod ${namespace}/${name}`, message };
  }
  return undefined;
}

function copiesEbb({ command }: JsonObject): boolean {
  const [program, word] = listOf(command);
  return word === "install" && /(^|\/)ebb$/.test(textOf(program) ?? "");
}

function failureOf({ state, lastState }: JsonObject): string | undefined {
  const { waiting, terminated } = objectOf(state);
  const ended = textOf(objectOf(waiting).reason) === "CrashLoopBackOff" ? objectOf(lastState).terminated : terminated;
  const { exitCode, reason: how, message: last } = objectOf(ended);
  if (typeof exitCode === "number" && exitCode !== 0)
    return `fails: ${sentence(`exit code ${exitCode}, ${how}`, last)}`;
  const { reason, message } = objectOf(waiting);
  if (typeof reason !== "string" || usual.includes(reason)) return undefined;
  return `cannot start: ${sentence(reason, message)}${adviceOn(reason, textOf(message) ?? "")}`;
}

/** Joins a reason and its message, without what the kubelet says of which pod it is. */
function sentence(reason: string, message: unknown): string {
  const text = (textOf(message) ?? "").replace(/ \(pod: .*\)$/s, "").trim();
  return shortened(text === "" ? reason : `${reason}: ${text}`, LONGEST);
}

function adviceOn(reason: string, message: string): string {
  if (message.includes("runAsNonRoot"))
    return "; its image needs a USER that is a number other than 0, as Dockerfile.distroless gives it, or the pod a securityContext.runAsUser";
  if (/Image/.test(reason))
    return "; correct --image of the webhook or of ebb inject, or give the pod its imagePullSecrets";
  return "";
}

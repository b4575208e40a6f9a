import { type JsonObject, listOf, objectOf, textOf } from "../base/json.ts";
import { boolean } from "../cli/syntax.ts";
import { injectPod } from "../inject/patch.ts";
import { viewOf } from "../reap/pod-view.ts";
import { choiceOf, REAP } from "../reap/policy.ts";
import { asksBy, presenceOf } from "./presence.ts";

/** Something in a cluster that is not as somebody wanted it, and what to do. */
export interface Finding {
  readonly object: string;
  readonly message: string;
}

/** A webhook of ebb's in a cluster. */
export interface Registration {
  readonly name: string;
  readonly isRequired: boolean;
  readonly isTrusted: boolean;
  /** `NAMESPACE/NAME` */
  readonly service: string;
  /** undefined: it may not be read. */
  readonly isServiceThere: boolean | undefined;
  /** undefined: they may not be read. */
  readonly deployments: readonly JsonObject[] | undefined;
}

/** What the webhooks of a cluster do. */
export interface Webhooks {
  /** undefined: it is not known. */
  readonly count: number | undefined;
  /** Where pods get ebb from now; empty: it is not known. */
  readonly images: readonly string[];
  readonly all: boolean;
}

export function webhooksOf(registrations: readonly Registration[] | undefined): Webhooks {
  const args = (registrations ?? []).flatMap(({ deployments }) => (deployments ?? []).flatMap(argsOf));
  const images = args.flatMap((arg) => (arg.startsWith("--image=") ? [arg.slice("--image=".length)] : []));
  return { count: registrations?.length, images: [...new Set(images)], all: args.includes("--all") };
}

function argsOf({ spec }: JsonObject): readonly string[] {
  const { containers } = objectOf(objectOf(objectOf(spec).template).spec);
  return listOf(containers).flatMap((one) => listOf(objectOf(one).args).flatMap((arg) => textOf(arg) ?? []));
}

export function registrationFindings(registration: Registration): readonly Finding[] {
  const { name, isRequired, isTrusted, service, isServiceThere, deployments } = registration;
  const object = `MutatingWebhookConfiguration ${name}`;
  const effect = isRequired ? "each pod that it selects is refused" : "pods start without ebb";
  if (isServiceThere === false) {
    const message = `its Service ${service} does not exist, so it is left over, and ${effect}: kubectl delete mutatingwebhookconfiguration ${name}`;
    return [{ object, message }];
  }
  const isReady = deployments?.some(({ status }) => Number(objectOf(status).readyReplicas ?? 0) > 0);
  const message = (what: string) => `${what}, so ${effect}`;
  return [
    ...(isReady === false ? [{ object, message: message(`no replica behind its Service ${service} is ready`) }] : []),
    ...(isTrusted ? [] : [{ object, message: message("it has no caBundle") }]),
  ];
}

/** Of a pod that runs or is to run. */
export function podFinding(pod: JsonObject, label: string | undefined, webhooks: Webhooks): Finding | undefined {
  const { name, namespace } = objectOf(pod.metadata);
  const object = `Pod ${namespace}/${name}`;
  const again = howAgain(pod);
  const presence = presenceOf(pod);
  if (presence.kind === "present") {
    const { image } = presence;
    const { images } = webhooks;
    if (image === undefined || images.length === 0 || images.includes(image)) return undefined;
    return { object, message: `it has ebb from ${image}, and the webhook now gives ${images.join(" or ")}: ${again}` };
  }
  const by = asksBy(pod, { label, all: webhooks.all });
  if (by === undefined || !isMissing(pod, by === "annotation")) return undefined;
  const why =
    webhooks.count === 0
      ? "no webhook is registered: install it (ebb manifests webhook), then"
      : "no webhook answered when it was created, or none was asked about it:";
  return { object, message: `it asks for ebb (${words[by]}) and has none: ${why} ${again}` };
}

/** Annotations of a pod that say nothing, or not what somebody meant: the webhook tells only whoever makes the pod itself. */
export function annotationFindings(pod: JsonObject, label: string | undefined): readonly Finding[] {
  const { name, namespace, annotations } = objectOf(pod.metadata);
  const own = Object.keys(objectOf(annotations)).filter((key) => key.startsWith("ebb.dev/"));
  if (own.length === 0) return [];
  const { warnings } = injectPod(pod, { ...nobodys, all: label === "true" });
  const ofAnnotations = warnings.filter(({ field }) => field.startsWith("metadata.annotations["));
  const reap = choiceOf(viewOf(pod), { ...noPolicy, namespaces: new Map() });
  return [
    ...ofAnnotations.map(({ field, message }) => ({
      object: `Pod ${namespace}/${name}`,
      message: `${field}: ${message}`,
    })),
    ...(reap.kind === "unreadable" ? [{ object: `Pod ${namespace}/${name}`, message: reap.reason }] : []),
  ];
}

const noPolicy = { afterMs: 0, allJobs: false, means: [], allowsReapExec: false } as const;

/** How a pod is made anew. The name of a ReplicaSet is its Deployment's with the hash of the template (pod-template-hash). */
function howAgain({ metadata }: JsonObject): string {
  const { namespace, ownerReferences, labels } = objectOf(metadata);
  const { kind, name } = objectOf(listOf(ownerReferences)[0]);
  const hash = textOf(objectOf(labels)["pod-template-hash"]);
  if (kind === "ReplicaSet" && typeof name === "string" && hash !== undefined && name.endsWith(`-${hash}`)) {
    return `kubectl -n ${namespace} rollout restart deployment/${name.slice(0, -hash.length - 1)}`;
  }
  if (kind === "Job") return "its next Job gets it; to have it now, create the Job again";
  return kind === undefined ? "create the pod again" : `delete the pod, and its ${kind} creates it again`;
}

/** The Events of owners that could not create a pod. */
export const REFUSALS = "reason=FailedCreate";
const REFUSED = "ebb cannot be put into this pod: ";

/** Whose pods the webhook refused. */
export interface Refused extends Finding {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Of such an Event, where it was the webhook that refused. */
export function refusalFinding({ involvedObject, message }: JsonObject): Refused | undefined {
  const { kind, namespace, name, uid } = objectOf(involvedObject);
  const said = textOf(message) ?? "";
  const at = said.indexOf(REFUSED);
  if (at < 0) return undefined;
  const object = `${kind} ${namespace}/${name}`;
  const told = `the webhook refuses its pods: ${said.slice(at + REFUSED.length)}`;
  const owner = { kind: String(kind), namespace: String(namespace), name: String(name), uid: String(uid) };
  return { ...owner, object, message: told };
}

const words = {
  annotation: 'its annotation ebb.dev/inject: "true"',
  namespace: "the label ebb.dev/inject=true of its namespace",
  "--all": "the webhook's --all",
};

const nobodys = { image: "ebb", all: true, volume: "emptyDir", options: new Map(), entrypoints: new Map() } as const;

/** What only its namespace took, and cannot have it, is let in without; what there is nothing to change in is, too. */
function isMissing(pod: JsonObject, isAsked: boolean): boolean {
  const { kind } = injectPod(pod, nobodys);
  return kind === "changed" || (kind === "refused" && isAsked);
}

/** Whether an owner still waits for pods: not a Job that is over, nor what has all of its pods. */
export function lacksPods({ spec, status }: JsonObject): boolean {
  const { conditions, active, succeeded, replicas, currentNumberScheduled, desiredNumberScheduled } = objectOf(status);
  const isOver = listOf(conditions).some((each) => /^(Complete|Failed)$/.test(String(objectOf(each).type)));
  if (isOver || Number(active ?? 0) + Number(succeeded ?? 0) > 0) return false;
  if (desiredNumberScheduled !== undefined) return Number(currentNumberScheduled ?? 0) < Number(desiredNumberScheduled);
  return Number(replicas ?? 0) < Number(objectOf(spec).replicas ?? 1);
}

/** Of its label ebb.dev/reap. */
export function reapLabelFinding(name: string, label: string, hasReaper: boolean): Finding | undefined {
  if (boolean.parse(label) === true && !hasReaper) {
    const message = `its label ${REAP}=true asks for the reaper, and none is installed: install it (ebb manifests reaper), or kubectl label namespace ${name} ${REAP}-`;
    return { object: `Namespace ${name}`, message };
  }
  if (boolean.parse(label) !== undefined) return undefined;
  const message = `its label ${REAP} says nothing: expected true or false, got ${JSON.stringify(label)}`;
  return { object: `Namespace ${name}`, message };
}

/** Of its label ebb.dev/inject. */
export function namespaceFinding(name: string, label: string, { count }: Pick<Webhooks, "count">): Finding | undefined {
  if (label === "true" && count === 0) {
    const message = `its label ebb.dev/inject=true asks for ebb, and no webhook is registered: install it (ebb manifests webhook), or kubectl label namespace ${name} ebb.dev/inject-`;
    return { object: `Namespace ${name}`, message };
  }
  if (label === "true" || label === "false") return undefined;
  const message = `its label ebb.dev/inject says nothing: expected true or false, got ${JSON.stringify(label)}`;
  return { object: `Namespace ${name}`, message };
}

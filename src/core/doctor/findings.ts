import { type JsonObject, listOf, objectOf, textOf } from "../base/json.ts";
import { injectPod } from "../inject/patch.ts";
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
  const { name, namespace, ownerReferences } = objectOf(pod.metadata);
  const object = `Pod ${namespace}/${name}`;
  const owner = textOf(objectOf(listOf(ownerReferences)[0]).kind);
  const again = owner === undefined ? "create it again" : `delete it, and its ${owner} creates it again`;
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
      ? "no webhook is registered"
      : "no webhook answered when it was created, or none was asked about it";
  return { object, message: `it asks for ebb (${words[by]}) and has none: ${why}; then ${again}` };
}

const words = {
  annotation: 'its annotation ebb.dev/inject: "true"',
  namespace: "the label ebb.dev/inject=true of its namespace",
  "--all": "the webhook's --all",
};

/** What only its namespace took, and cannot have it, is let in without; what there is nothing to change in is, too. */
function isMissing(pod: JsonObject, isAsked: boolean): boolean {
  const policy = { image: "ebb", all: true, volume: "emptyDir", options: new Map(), entrypoints: new Map() } as const;
  const { kind } = injectPod(pod, policy);
  return kind === "changed" || (kind === "refused" && isAsked);
}

export function namespaceFinding(name: string, label: string): Finding | undefined {
  if (label === "true" || label === "false") return undefined;
  const message = `its label ebb.dev/inject says nothing: expected true or false, got ${JSON.stringify(label)}`;
  return { object: `Namespace ${name}`, message };
}

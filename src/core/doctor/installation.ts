import { type JsonObject, listOf, objectOf, textOf, textsOf } from "../base/json.ts";
import { COMPONENT_LABEL } from "../cluster/installed.ts";
import type { Finding } from "./finding.ts";
import type { Selection } from "./selection.ts";

/** An installed webhook or reaper, as its Deployment says, or its CronJob. */
export interface Component {
  /** `webhook` or `reaper`; `deployment` without the label that says so. */
  readonly component: string;
  readonly namespace: string;
  readonly name: string;
  /** How many replicas are ready, and how many are wanted; both are 0 for a CronJob. */
  readonly ready: number;
  readonly replicas: number;
  /** When a CronJob runs. */
  readonly schedule?: string;
  /** Whether a CronJob is suspended. */
  readonly suspended?: boolean;
  /** The image of its first container. */
  readonly image: string | undefined;
  /** The image from which pods get ebb (--image). Undefined if its arguments have none. */
  readonly gives: string | undefined;
  /** Why replicas have not started, and what to do (`whyNotStarted`). */
  readonly why?: string | undefined;
}

/** Summarises a Deployment of the installation. */
export function componentOf({ metadata, spec, status }: JsonObject): Component {
  const { namespace, name, labels } = objectOf(metadata);
  const { replicas, template } = objectOf(spec);
  const { spec: podSpec } = objectOf(template);
  return {
    component: textOf(objectOf(labels)[COMPONENT_LABEL]) ?? "deployment",
    namespace: String(namespace),
    name: String(name),
    ready: Number(objectOf(status).readyReplicas ?? 0),
    replicas: Number(replicas ?? 1),
    image: textOf(objectOf(listOf(objectOf(podSpec).containers)[0]).image),
    gives: imageIn(argsOf(podSpec)),
  };
}

/** Summarises a CronJob of the installation. */
export function scheduledOf({ metadata, spec }: JsonObject): Component {
  const { schedule, suspend, jobTemplate } = objectOf(spec);
  const { template } = objectOf(objectOf(jobTemplate).spec);
  const component = componentOf({ metadata, spec: { replicas: 0, template } });
  return { ...component, schedule: String(schedule), suspended: suspend === true };
}

/** Returns the arguments of all ordinary containers in a pod's spec, in one list. */
function argsOf(podSpec: unknown): readonly string[] {
  const { containers } = objectOf(podSpec);
  return listOf(containers).flatMap((one) => textsOf(objectOf(one).args));
}

const IMAGE = "--image=";

function imageIn(args: readonly string[]): string | undefined {
  return args.find((arg) => arg.startsWith(IMAGE))?.slice(IMAGE.length);
}

/** Formats `reaper ebb-reaper/ebb-reaper: 2 of 2 replicas ready, image registry.example.com/ebb:0.1.0`. */
export function describeComponent({ component, namespace, name, image, ...more }: Component): string {
  const { schedule, ready, replicas } = more;
  const runs = schedule === undefined ? `${ready} of ${replicas} replicas ready` : `CronJob, schedule ${schedule}`;
  return `${component} ${namespace}/${name}: ${runs}, image ${image ?? "unknown"}`;
}

/**
 * Returns a finding for a reaper whose replicas are not all ready, or that is scaled to 0 or suspended. Returns
 * undefined for any other component: `registrationFindings` looks at the webhook.
 */
export function componentFinding(component: Component): Finding | undefined {
  const { namespace, name, ready, replicas, suspended, why = inLog(component) } = component;
  if (component.component !== "reaper") return undefined;
  if (suspended === true) {
    const message = `the reaper ends no sidecar: it is suspended: kubectl -n ${namespace} patch cronjob/${name} -p '{"spec":{"suspend":false}}'`;
    return { object: `CronJob ${namespace}/${name}`, message };
  }
  if (suspended === false || (ready >= replicas && replicas > 0)) return undefined;
  const object = `Deployment ${namespace}/${name}`;
  if (replicas === 0) return { object, message: `the reaper ends no sidecar: ${scale(component)}` };
  return {
    object,
    message: `only ${ready} of its ${replicas} replicas are ready, so it may leave sidecars running; ${why}`,
  };
}

function inLog({ namespace, name }: Pick<Component, "namespace" | "name">): string {
  return `its log says why, for example a missing permission: kubectl -n ${namespace} logs --all-pods deployment/${name}`;
}

/**
 * Returns a finding if some of the webhook's `pods` are being deleted, still answer, and inject another image than its
 * Deployment does now. Returns undefined if there is no such pod.
 */
export function formerFinding(component: Component, pods: readonly JsonObject[]): Finding | undefined {
  const { namespace, name, gives } = component;
  const former = pods.flatMap(({ metadata, spec }) => {
    const { name, deletionTimestamp } = objectOf(metadata);
    const own = imageIn(argsOf(spec));
    return deletionTimestamp === undefined || own === gives ? [] : [{ pod: `pod/${name}`, own }];
  });
  if (former.length === 0) return undefined;
  const images = [...new Set(former.map(({ own }) => own))].join(" and ");
  const wait = `kubectl -n ${namespace} wait --for=delete ${former.map(({ pod }) => pod).join(" ")}`;
  const message = `replicas that inject ${images} still answer: before you restart pods, ${wait}`;
  return { object: `Deployment ${namespace}/${name}`, message };
}

/** A MutatingWebhookConfiguration of ebb's, with what stands behind it. */
export interface Registration {
  readonly name: string;
  /** The API server refuses a pod if the webhook does not answer (failurePolicy is not Ignore). */
  readonly isRequired: boolean;
  /** It has a caBundle. */
  readonly isTrusted: boolean;
  /** The label selectors of each of its webhooks. */
  readonly selectors: readonly Omit<Selection, "all">[];
  /** Its Service, as `NAMESPACE/NAME`. */
  readonly service: string;
  /** Undefined if the Service may not be read. */
  readonly isServiceThere: boolean | undefined;
  /** The Deployments that the Service selects. Undefined if they may not be read. */
  readonly deployments: readonly JsonObject[] | undefined;
}

/** A summary of the webhooks of ebb's in a cluster. */
export interface Webhooks {
  /** How many are registered. Undefined if that may not be read. */
  readonly count: number | undefined;
  /** How many of them have a Service, as far as is known. Undefined if `count` is. */
  readonly answering: number | undefined;
  /** The images from which pods get ebb now. Empty if they are not known. */
  readonly images: readonly string[];
  /** Which pods those with a Service are asked about. Empty if that is not known. */
  readonly selections: readonly Selection[];
}

/** Summarises the registered webhooks. `registrations` is undefined if they may not be read. */
export function webhooksOf(registrations: readonly Registration[] | undefined): Webhooks {
  const images = (registrations ?? []).flatMap(callsOf).flatMap((args) => imageIn(args) ?? []);
  const answering = registrations?.filter(({ isServiceThere }) => isServiceThere !== false);
  const selections = answering?.flatMap((registration) => {
    const all = callsOf(registration).some((args) => args.includes("--all"));
    return registration.selectors.map((each) => ({ ...each, all }));
  });
  return {
    count: registrations?.length,
    answering: answering?.length,
    images: [...new Set(images)],
    selections: selections ?? [],
  };
}

/** Returns the arguments of each Deployment behind a registration. */
function callsOf({ deployments }: Registration): readonly (readonly string[])[] {
  return (deployments ?? []).map(({ spec }) => argsOf(objectOf(objectOf(spec).template).spec));
}

/**
 * Returns what keeps a registered webhook from working: its Service does not exist, no replica is ready, or it has no
 * caBundle. Returns an empty list if it works. `components` say why replicas have not started.
 */
export function registrationFindings(
  registration: Registration,
  components: readonly Component[] = [],
): readonly Finding[] {
  const { name, isRequired, isTrusted, service, isServiceThere, deployments } = registration;
  const object = `MutatingWebhookConfiguration ${name}`;
  const effect = isRequired ? "each pod that it selects is refused" : "pods start without ebb";
  if (isServiceThere === false) {
    const message = `its Service ${service} does not exist, so ${effect}: install the webhook again (ebb manifests webhook) or, if it was removed, kubectl delete mutatingwebhookconfiguration ${name}`;
    return [{ object, message }];
  }
  const isReady = deployments?.some(({ status }) => Number(objectOf(status).readyReplicas ?? 0) > 0);
  const [namespace = "", deployment = ""] = service.split("/"); // they have the same name
  if (isReady === false) {
    const why = deployments?.map((each) => whyNoneReady(componentOf(each), components)).join("; or ");
    const todo = why || "install the webhook again (ebb manifests webhook)";
    return [{ object, message: `no replica behind its Service ${service} is ready, so ${effect}; ${todo}` }];
  }
  if (isTrusted) return [];
  const log = inLog({ namespace, name: deployment });
  const message = `it has no caBundle, so ${effect}; ${log}; with cert-manager: kubectl -n ${namespace} describe certificates`;
  return [{ object, message }];
}

function scale({ namespace, name }: Pick<Component, "namespace" | "name">): string {
  return `it is scaled to 0: kubectl -n ${namespace} scale --replicas=2 deployment/${name}`;
}

function whyNoneReady({ namespace, name, replicas }: Component, components: readonly Component[]): string {
  if (replicas === 0) return scale({ namespace, name });
  const known = components.find((each) => each.namespace === namespace && each.name === name);
  return known?.why ?? inLog({ namespace, name });
}

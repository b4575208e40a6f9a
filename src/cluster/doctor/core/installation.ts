import { counted } from "../../../shared/core/wording.ts";
import type { CronJob, Metadata, Selectors, Workload } from "../../api/core/objects.ts";
import { secretName } from "../../certificates/core/secret-name.ts";
import { COMPONENT_LABEL } from "../../core/installed.ts";
import type { Finding } from "./finding.ts";
import {
  argumentsNow,
  type ContainerArgs,
  type Installed,
  imageIn,
  readyArguments,
  readySpecs,
  templateOf,
  valuesOf,
  whyReplicasNotReady,
} from "./replicas.ts";
import type { Selection } from "./selection.ts";

/** An installed webhook or reaper: a Deployment, or a CronJob. */
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
  /** The images of its replicas that are ready, or else of the next ones, joined by `and`. */
  readonly image: string;
  /** Why replicas are not ready, and what to do (`whyReplicasNotReady`). */
  readonly why?: string | undefined;
}

/** Summarises a Deployment of the installation. */
export function componentOf(installed: Installed): Component {
  const { metadata, spec, status } = installed.deployment;
  const specs = readySpecs(installed);
  const images = (specs.length > 0 ? specs : [templateOf(installed)]).map(imageIn);
  return {
    ...namesOf(metadata),
    ready: status?.readyReplicas ?? 0,
    replicas: spec.replicas ?? 1,
    image: [...new Set(images)].join(" and "),
    ...(isComplete(installed.deployment) ? {} : { why: whyReplicasNotReady(installed) }),
  };
}

/** Summarises a CronJob of the installation. */
export function scheduledOf({ metadata, spec: { schedule, suspend = false, jobTemplate } }: CronJob): Component {
  const image = imageIn(jobTemplate.spec.template.spec);
  return { ...namesOf(metadata), ready: 0, replicas: 0, schedule, suspended: suspend, image };
}

function namesOf({
  namespace,
  name,
  labels,
}: Workload["metadata"]): Pick<Component, "component" | "namespace" | "name"> {
  return { component: labels?.[COMPONENT_LABEL] ?? "deployment", namespace, name };
}

/** Reports whether all replicas are those of the template, and ready. */
function isComplete({ spec: { replicas = 1 }, status }: Workload): boolean {
  const { readyReplicas = 0, updatedReplicas = 0, unavailableReplicas } = status ?? {};
  return readyReplicas >= replicas && updatedReplicas >= replicas && !unavailableReplicas;
}

/** Formats `reaper ebb-reaper/ebb-reaper: 1 of 1 replicas ready, image registry.example.com/ebb:0.1.0`. */
export function describeComponent({ component, namespace, name, image, ...more }: Component): string {
  const { schedule, ready, replicas } = more;
  const runs = schedule === undefined ? `${ready} of ${replicas} replicas ready` : `CronJob, schedule ${schedule}`;
  return `${component} ${namespace}/${name}: ${runs}, image ${image}`;
}

/** Returns a finding for a reaper that is a CronJob, and suspended. */
export function suspendedFinding({ component, namespace, name, suspended }: Component): Finding | undefined {
  if (component !== "reaper" || suspended !== true) return undefined;
  const message = `the reaper ends no sidecar: it is suspended: kubectl -n ${namespace} patch cronjob/${name} -p '{"spec":{"suspend":false}}'`;
  return { object: `CronJob ${namespace}/${name}`, message };
}

/**
 * Returns a finding for a Deployment whose replicas are not all ready, or not all of its template. Of a webhook that has no
 * replica at all `registrationFindings` tells.
 */
export function deploymentFinding(installed: Installed): Finding | undefined {
  const component = componentOf(installed);
  const { namespace, name, ready, replicas, image, why = inLog(component) } = component;
  const object = `Deployment ${namespace}/${name}`;
  if (ready === 0 && component.component !== "reaper") return undefined;
  if (replicas === 0) return { object, message: `the reaper ends no sidecar: ${scale(component)}` };
  if (isComplete(installed.deployment)) return undefined;
  if (ready === 0) return { object, message: `no replica is ready, so the reaper ends no sidecar; ${why}` };
  const state =
    ready < replicas
      ? `only ${ready} of its ${replicas} replicas are ready`
      : `its rollout is not complete: ${counted(ready, "replica")} ready`;
  return { object, message: `${state}, with image ${image}; ${why}` };
}

function inLog({ namespace, name }: Pick<Component, "namespace" | "name">): string {
  return `its log says why, for example a missing permission: kubectl -n ${namespace} logs --all-pods deployment/${name}`;
}

/** What a replica of the webhook puts into pods. */
export interface WebhookPolicy {
  /** The image from which pods get ebb (--image). */
  readonly image: string | undefined;
  /** The options for all pods (--set). */
  readonly options: Readonly<Record<string, string>>;
}

function injectedBy(args: ContainerArgs): WebhookPolicy {
  const settings = valuesOf(args, "--set").flatMap((each) => each.split("\n"));
  const options = settings.map((each) => [each.split("=", 1)[0] ?? "", each.slice(each.indexOf("=") + 1)] as const);
  return { image: valuesOf(args, "--image").at(-1), options: Object.fromEntries(options) };
}

/**
 * Returns how to install again what an object belongs to: by the Helm release that it names, as Helm writes it into all
 * objects (helm pkg/action/validate.go); else by the component's manifests.
 */
export function howToInstall(component: string, { annotations = {} }: Pick<Metadata, "annotations">): string {
  const { "meta.helm.sh/release-name": release, "meta.helm.sh/release-namespace": namespace } = annotations;
  if (release === undefined) return `ebb manifests ${component}`;
  return `helm upgrade ${release} CHART --namespace ${namespace} --reset-then-reuse-values`;
}

/** A MutatingWebhookConfiguration of ebb's, with what stands behind it. */
export interface Registration {
  readonly name: string;
  /** The API server refuses a pod if the webhook does not answer (failurePolicy is not Ignore). */
  readonly isRequired: boolean;
  /** It has a caBundle. */
  readonly isTrusted: boolean;
  /** How to install it again (`howToInstall`). */
  readonly again: string;
  /** The label selectors of each of its webhooks. */
  readonly selectors: readonly Selectors[];
  /** Its Service, as `NAMESPACE/NAME`. */
  readonly service: string;
  /** Undefined if the Service may not be read. */
  readonly isServiceThere: boolean | undefined;
  /** The Deployments that the Service selects. Undefined if they may not be read. */
  readonly deployments: readonly Installed[] | undefined;
}

/** A summary of the webhooks of ebb's in a cluster. */
export interface Webhooks {
  /** How many are registered. Undefined if that may not be read. */
  readonly count: number | undefined;
  /** How many of them have a Service, as far as is known. Undefined if `count` is. */
  readonly answering: number | undefined;
  /** What the replicas that are ready put into pods. Empty if none is, or if that is not known. */
  readonly injected: readonly WebhookPolicy[];
  /** How the replicas that are ready bring ebb into pods (--volume): emptyDir, image, or, during a rollout, both. */
  readonly volumes: readonly string[];
  /** Which pods those with a Service are asked about. Empty if that is not known. */
  readonly selections: readonly Selection[];
}

/** Summarises the registered webhooks. `registrations` is undefined if they may not be read. */
export function webhooksOf(registrations: readonly Registration[] | undefined): Webhooks {
  const answering = registrations?.filter(({ isServiceThere }) => isServiceThere !== false);
  const selections = answering?.flatMap(({ deployments = [], selectors }) => {
    const all = deployments.some((each) => [argumentsNow(each), ...readyArguments(each)].some(takesAll));
    return selectors.map((each) => ({ ...each, all }));
  });
  const calls = (registrations ?? []).flatMap(({ deployments = [] }) => deployments.flatMap(readyArguments));
  return {
    count: registrations?.length,
    answering: answering?.length,
    injected: calls.map(injectedBy).filter(({ image }) => image !== undefined),
    volumes: [...new Set(calls.map((args) => valuesOf(args, "--volume").at(-1) ?? "emptyDir"))],
    selections: selections ?? [],
  };
}

function takesAll(args: ContainerArgs): boolean {
  return args.includes("--all") || args.includes("--all=true");
}

/**
 * Returns what keeps a registered webhook from working: its Service does not exist, no replica is ready, or it has no
 * caBundle. Returns an empty list if it works.
 */
export function registrationFindings(registration: Registration): readonly Finding[] {
  const { name, again, isRequired, isTrusted, service, isServiceThere, deployments } = registration;
  const object = `MutatingWebhookConfiguration ${name}`;
  const effect = isRequired ? "each pod that it selects is refused" : "pods start without ebb";
  if (isServiceThere === false) {
    const message = `its Service ${service} does not exist, so ${effect}: install the webhook again (${again}) or, if it was removed, kubectl delete mutatingwebhookconfiguration ${name}`;
    return [{ object, message }];
  }
  const components = deployments?.map(componentOf);
  if (components?.every(({ ready }) => ready === 0)) {
    const todo = components.map(whyNoneReady).join("; or ") || `install the webhook again (${again})`;
    return [{ object, message: `no replica behind its Service ${service} is ready, so ${effect}; ${todo}` }];
  }
  if (isTrusted) return [];
  const [namespace = "", deployment = ""] = service.split("/"); // they have the same name
  const log = inLog({ namespace, name: deployment });
  const message = `it has no caBundle, so ${effect}; ${log}; with cert-manager: kubectl -n ${namespace} describe certificates`;
  return [{ object, message }];
}

function whyNoneReady(component: Component): string {
  return component.replicas === 0 ? scale(component) : (component.why ?? inLog(component));
}

function scale({ component, namespace, name }: Component): string {
  const replicas = component === "reaper" ? 1 : 2; // as they are installed
  return `it is scaled to 0: kubectl -n ${namespace} scale --replicas=${replicas} deployment/${name}`;
}

/**
 * Returns the names of the Secrets without which a Deployment's next replica does not work: those that are mounted, and
 * the one in which the webhook keeps a CA of its own, which is named after it as the Deployment is.
 */
export function secretsOf(installed: Installed): readonly string[] {
  const args = argumentsNow(installed);
  const { component, name: deployment } = namesOf(installed.deployment.metadata);
  const name = valuesOf(args, "--name").at(-1) ?? deployment;
  const hasOwn = component === "webhook" && valuesOf(args, "--cert-dir").length === 0;
  const { volumes = [] } = templateOf(installed);
  return [
    ...(hasOwn ? [secretName(name)] : []),
    ...volumes.flatMap(({ secret }) => (secret?.optional ? [] : (secret?.secretName ?? []))),
  ];
}

/** Returns a finding for such a Secret that does not exist. */
export function secretFinding({ deployment }: Installed, name: string): Finding {
  const { component, namespace } = namesOf(deployment.metadata);
  const again = howToInstall(component, deployment.metadata);
  const message = `it does not exist, and a replica of the ${component} needs it to start: install that again (${again})`;
  return { object: `Secret ${namespace}/${name}`, message };
}

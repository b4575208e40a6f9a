import { type JsonObject, listOf, objectOf, textOf } from "../base/json.ts";
import type { Finding } from "./finding.ts";

/** An installed webhook or reaper, as its Deployment says. */
export interface Component {
  /** The label app.kubernetes.io/component: `webhook` or `reaper`; `deployment` without that label. */
  readonly component: string;
  readonly namespace: string;
  readonly name: string;
  /** How many replicas are ready, and how many are wanted. */
  readonly ready: number;
  readonly replicas: number;
  /** The image of its first container. */
  readonly image: string | undefined;
  /** The image from which pods get ebb (--image). Undefined if its arguments have none. */
  readonly gives: string | undefined;
}

/** The label selector of all objects that ebb's manifests install; app.kubernetes.io/component tells them apart. */
export const COMPONENTS = "app.kubernetes.io/name=ebb";

/** Summarises a Deployment that has the label `COMPONENTS`. */
export function componentOf({ metadata, spec, status }: JsonObject): Component {
  const { namespace, name, labels } = objectOf(metadata);
  const { replicas, template } = objectOf(spec);
  const { spec: podSpec } = objectOf(template);
  return {
    component: textOf(objectOf(labels)["app.kubernetes.io/component"]) ?? "deployment",
    namespace: String(namespace),
    name: String(name),
    ready: Number(objectOf(status).readyReplicas ?? 0),
    replicas: Number(replicas ?? 1),
    image: textOf(objectOf(listOf(objectOf(podSpec).containers)[0]).image),
    gives: imageIn(argsOf(podSpec)),
  };
}

/** Returns the arguments of all ordinary containers in a pod's spec, in one list. Anything but a spec has none. */
export function argsOf(podSpec: unknown): readonly string[] {
  const { containers } = objectOf(podSpec);
  return listOf(containers).flatMap((one) => listOf(objectOf(one).args).flatMap((arg) => textOf(arg) ?? []));
}

const IMAGE = "--image=";

/** Returns the --image in the arguments of a webhook or reaper, from which pods get ebb; undefined if there is none. */
export function imageIn(args: readonly string[]): string | undefined {
  return args.find((arg) => arg.startsWith(IMAGE))?.slice(IMAGE.length);
}

/** Formats `reaper ebb-reaper/ebb-reaper: 2 of 2 replicas ready, image registry.example.com/ebb:0.1.0`. */
export function describeComponent({ component, namespace, name, ready, replicas, image }: Component): string {
  return `${component} ${namespace}/${name}: ${ready} of ${replicas} replicas ready, image ${image ?? "unknown"}`;
}

/**
 * Returns a finding for a reaper whose replicas are not all ready, or that is scaled to 0. Returns undefined for any
 * other component: `registrationFindings` looks at the webhook.
 */
export function componentFinding(component: Component): Finding | undefined {
  const { namespace, name, ready, replicas } = component;
  if (component.component !== "reaper" || (ready >= replicas && replicas > 0)) return undefined;
  const object = `Deployment ${namespace}/${name}`;
  if (replicas === 0) return { object, message: "it is scaled to 0 replicas, so the reaper ends no sidecar" };
  const log = `kubectl -n ${namespace} logs --all-pods deployment/${name}`;
  const message = `only ${ready} of its ${replicas} replicas are ready, so it may leave sidecars running; its log says why, for example a missing permission: ${log}`;
  return { object, message };
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

import { type JsonObject, listOf, objectOf, textOf } from "../base/json.ts";
import type { Finding } from "./findings.ts";

/** A webhook or a reaper that is installed, as its Deployment says. */
export interface Component {
  readonly component: string;
  readonly namespace: string;
  readonly name: string;
  readonly ready: number;
  readonly replicas: number;
  /** Where it takes ebb from. */
  readonly image: string | undefined;
}

/** The Deployments of an installation have this label; app.kubernetes.io/component tells them apart. */
export const COMPONENTS = "app.kubernetes.io/name=ebb";

export function componentOf({ metadata, spec, status }: JsonObject): Component {
  const { namespace, name, labels } = objectOf(metadata);
  const { replicas, template } = objectOf(spec);
  const { containers } = objectOf(objectOf(template).spec);
  return {
    component: textOf(objectOf(labels)["app.kubernetes.io/component"]) ?? "deployment",
    namespace: String(namespace),
    name: String(name),
    ready: Number(objectOf(status).readyReplicas ?? 0),
    replicas: Number(replicas ?? 1),
    image: textOf(objectOf(listOf(containers)[0]).image),
  };
}

/** `reaper ebb-reaper/ebb-reaper: 2 of 2 replicas ready, image registry.example.com/ebb:0.1.0`. */
export function describeComponent({ component, namespace, name, ready, replicas, image }: Component): string {
  return `${component} ${namespace}/${name}: ${ready} of ${replicas} replicas ready, image ${image ?? "unknown"}`;
}

/** What is wrong with the reaper; of the webhook its registration tells. */
export function componentFinding(component: Component): Finding | undefined {
  const { namespace, name, ready, replicas } = component;
  if (component.component !== "reaper" || (ready >= replicas && replicas > 0)) return undefined;
  const object = `Deployment ${namespace}/${name}`;
  if (replicas === 0) return { object, message: "it is scaled to 0 replicas, so the reaper ends no sidecar" };
  const log = `kubectl -n ${namespace} logs --all-pods deployment/${name}`;
  const message = `${replicas - ready} of its ${replicas} replicas are not ready, so the reaper may end no sidecar; its log says why, such as rights that it lacks: ${log}`;
  return { object, message };
}

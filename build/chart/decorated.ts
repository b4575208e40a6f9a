import type { Component, KubernetesObject, Manifest } from "../../src/kube/manifests/installation.ts";
import { instead, yaml } from "./marks.ts";

// What the chart's objects have that those of `ebb manifests` have not.

/** What of an object is read here: its pod template, if it has one. */
interface Decorated {
  readonly kind: string;
  readonly spec?: PodOwner & { readonly jobTemplate?: { readonly spec: PodOwner } };
}

interface PodOwner {
  readonly template: {
    readonly metadata: { readonly labels: object; readonly annotations: object };
    readonly spec: { readonly containers: readonly Container[] };
  };
}

interface Container {
  readonly resources: { readonly limits: { readonly memory: string } };
}

/** Returns a manifest with Helm's labels, and with what values can add to pods. */
export function decorated({ object, about, ...rest }: Manifest, component: Component): Manifest {
  const labels = {
    ...object.metadata.labels,
    "helm.sh/chart": '{{ include "ebb.chart" . }}',
    "app.kubernetes.io/managed-by": "{{ .Release.Service }}",
  };
  const withLabels = { ...object, metadata: { ...object.metadata, labels } };
  const made = withPod(withLabels as unknown as Decorated, component) as unknown as KubernetesObject;
  const words = about
    ?.replace(/(how sidecars are ended): .*/, "$1, by reaper.methods.")
    .replace(/(What goes out), .*, (is not limited)/, "$1 $2");
  return { ...rest, object: made, ...(words === undefined ? {} : { about: words }) };
}

function withPod(object: Decorated, component: Component): object {
  const { kind, spec } = object;
  if (kind === "Deployment")
    return { ...object, spec: { ...spec, template: templateWith(spec as PodOwner, component) } };
  if (kind !== "CronJob") return object;
  const job = spec?.jobTemplate?.spec as PodOwner;
  const jobTemplate = { ...spec?.jobTemplate, spec: { ...job, template: templateWith(job, component) } };
  return { ...object, spec: { ...spec, jobTemplate } };
}

function templateWith({ template: { metadata, spec } }: PodOwner, component: Component): object {
  const own = (key: string) => yaml(`.Values.${component}.${key}`);
  // a key twice is no YAML: here the template's counts, because selectors and the webhook need it
  const added = (fields: object, key: string) => {
    const keys = Object.keys(fields).map((each) => JSON.stringify(each));
    return { ...fields, [yaml(`omit (.Values.${component}.${key} | default dict) ${keys.join(" ")}`)]: "" };
  };
  const { containers, ...rest } = spec;
  const [container] = containers as [Container];
  const { resources } = container;
  const limits = component === "webhook" ? { memory: '{{ include "ebb.webhookMemory" . }}' } : resources.limits;
  return {
    metadata: {
      labels: added(metadata.labels, "podLabels"),
      annotations: added(metadata.annotations, "podAnnotations"),
    },
    spec: {
      ...rest,
      nodeSelector: { [yaml(`include "ebb.nodeSelector" .Values.${component} | fromJson`)]: "" },
      tolerations: own("tolerations"),
      affinity: own("affinity"),
      containers: [
        { ...container, resources: { [instead(`.Values.${component}.resources`)]: "", ...resources, limits } },
      ],
    },
  };
}

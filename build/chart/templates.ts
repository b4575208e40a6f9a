import { ofOwnCa, passedOn, toReaper } from "../../src/core/cli/cluster/installation-options.ts";
import type { Requirement } from "../../src/core/cli/cluster/label-selector.ts";
import { webhookOptions } from "../../src/core/cli/cluster/webhook-options.ts";
import { memory } from "../../src/core/cluster/webhook-memory.ts";
import { methodKinds } from "../../src/core/reap/methods.ts";
import type { Component, Installation, KubernetesObject, Manifest } from "../../src/kube/manifests/installation.ts";
import { reaperManifests } from "../../src/kube/manifests/reaper.ts";
import { webhookManifests } from "../../src/kube/manifests/webhook.ts";
import { type Choice, conditionsOf } from "./conditions.ts";
import { args, each, given, instead, plain, yaml } from "./marks.ts";
import { printManifests, withIndents } from "./template.ts";
import { addManifests, type Parts } from "./union.ts";
import { argsOf } from "./values.ts";

// The templates of the chart, from the functions of `ebb manifests`: they are called for all that values can choose, with
// expressions of Helm in the place of names and texts. A template is the union of what they return.

type Chosen = Readonly<Record<string, boolean>>;

interface Template {
  readonly component: Component;
  readonly choices: readonly Choice[];
  readonly isPossible: (chosen: Chosen) => boolean;
  readonly manifests: (chosen: Chosen) => readonly Manifest[];
}

const value = (path: string, name = path.replace(/.*\./, "")): Choice => ({ name, expression: `.Values.${path}` });

const webhook: Template = {
  component: "webhook",
  choices: [
    { name: "asksRegistries", expression: "or .Values.webhook.registries .Values.webhook.registryMirror" },
    value("webhook.pullSecrets"),
    value("webhook.certManager"),
    value("webhook.registrySecret"),
    value("webhook.registryCaConfigMap"),
    value("webhook.all"),
    { name: "fails", expression: 'eq .Values.webhook.failurePolicy "Fail"' },
    value("networkPolicy"),
    value("podMonitor"),
  ],
  isPossible: ({ asksRegistries, pullSecrets, registrySecret, registryCaConfigMap }) =>
    asksRegistries === true || !(pullSecrets || registrySecret || registryCaConfigMap),
  manifests: (chosen) =>
    webhookManifests(
      installationOf(chosen, {
        failurePolicy: chosen.fails ? "Fail" : "Ignore",
        selector: [yaml(".Values.selector") as unknown as Requirement],
        namespaceSelector: [yaml(".Values.webhook.namespaceSelector") as unknown as Requirement],
      }),
    ),
};

const reaper: Template = {
  component: "reaper",
  choices: [
    value("reaper.schedule"),
    value("reaper.dryRun"),
    value("reaper.reapNamespace"),
    ...methodKinds.map((kind) => ({
      name: kind,
      expression: `or (not .Values.reaper.methods) (has "${kind}" .Values.reaper.methods)`,
    })),
    value("networkPolicy"),
    value("podMonitor"),
  ],
  isPossible: (chosen) => methodKinds.some((kind) => chosen[kind]),
  manifests: (chosen) =>
    reaperManifests(
      installationOf(chosen, {
        schedule: chosen.schedule ? "{{ .Values.reaper.schedule }}" : undefined,
        reapNamespaces: chosen.reapNamespace ? [each(".Values.reaper.reapNamespace")] : [],
        methods: methodKinds.filter((kind) => chosen[kind]),
      }),
    ),
};

/** Numbers and durations that stand for those that Helm knows. */
const replicas = 7_777_771;
const timeoutSeconds = 7_777_772;
const hours = { caValidity: 7_777_773, certificateValidity: 7_777_774 };
const MS = 3_600_000;

function installationOf(chosen: Chosen, more: Partial<Installation>): Installation {
  return {
    name: '{{ include "ebb.fullname" . }}',
    namespace: "{{ .Release.Namespace }}",
    version: "{{ .Chart.AppVersion }}",
    image: '{{ include "ebb.image" . }}',
    imagePullPolicy: given(".Values.image.pullPolicy"),
    imagePullSecrets: [each(".Values.imagePullSecrets")],
    replicas,
    priorityClass: given(".Values.priorityClass"),
    networkPolicy: chosen.networkPolicy === true,
    podMonitor: chosen.podMonitor === true,
    certManager: chosen.certManager === true,
    failurePolicy: "Ignore",
    timeoutSeconds,
    all: chosen.all === true,
    selector: [],
    namespaceSelector: [],
    certificateValidity: hours.certificateValidity * MS,
    caValidity: hours.caValidity * MS,
    maxRequestBytes: 0,
    asksRegistries: chosen.asksRegistries === true,
    pullSecrets: chosen.pullSecrets === true,
    registrySecret: chosen.registrySecret ? "{{ .Values.webhook.registrySecret }}" : undefined,
    registryCaConfigMap: chosen.registryCaConfigMap ? "{{ .Values.webhook.registryCaConfigMap }}" : undefined,
    passedOn: Object.keys(passedOn).map(args),
    ofOwnCa: Object.keys(ofOwnCa).map(args),
    toReaper: Object.keys(toReaper).map(args),
    reapNamespaces: [],
    methods: [],
    dryRun: chosen.dryRun === true,
    schedule: undefined,
    ...more,
  };
}

/** Prints the template of a component. */
export function templateOf(name: Component): string {
  const { choices, isPossible, manifests } = name === "webhook" ? webhook : reaper;
  const conditions = conditionsOf(choices, isPossible);
  const union: Parts = { kind: "list", all: [] };
  for (const [at, chosen] of conditions.cases.entries()) {
    addManifests(
      union,
      manifests(chosen).map((manifest) => decorated(manifest, name)),
      1n << BigInt(at),
    );
  }
  const lines = printManifests(union, { conditions, argsOf });
  return withIndents([`{{- if .Values.${name}.enabled }}`, ...refusals[name], ...lines, "{{- end }}"]);
}

const refusals: Readonly<Record<Component, readonly string[]>> = {
  webhook: [
    "{{- if and (or .Values.webhook.pullSecrets .Values.webhook.registrySecret .Values.webhook.registryCaConfigMap) (not (or .Values.webhook.registries .Values.webhook.registryMirror)) }}",
    '{{- fail "webhook.pullSecrets, webhook.registrySecret, webhook.registryCaConfigMap: no registry is asked; name some in webhook.registries" }}',
    "{{- end }}",
  ],
  reaper: [],
};

/** What of an object is read here: its pod template, if it has one. */
interface Decorated {
  readonly kind: string;
  readonly spec?: PodOwner & { readonly jobTemplate?: { readonly spec: PodOwner } };
}

interface PodOwner {
  readonly template: {
    readonly metadata: { readonly labels: object; readonly annotations: object };
    readonly spec: { readonly nodeSelector: object; readonly containers: readonly Container[] };
  };
}

interface Container {
  readonly resources: { readonly limits: { readonly memory: string } };
}

/** Returns a manifest with Helm's labels, and with what values can add to pods. */
function decorated({ object, about, ...rest }: Manifest, component: Component): Manifest {
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
  return { ...rest, object: withNumbers(made) as KubernetesObject, ...(words === undefined ? {} : { about: words }) };
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
  const added = (fields: object, key: string) => ({ ...fields, [own(key)]: "" });
  const { nodeSelector, containers, ...rest } = spec;
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
      nodeSelector: added(nodeSelector, "nodeSelector"),
      tolerations: own("tolerations"),
      affinity: own("affinity"),
      containers: [
        { ...container, resources: { [instead(`.Values.${component}.resources`)]: "", ...resources, limits } },
      ],
    },
  };
}

/** Returns a copy with Helm's expressions in place of numbers and durations. */
function withNumbers(field: unknown): unknown {
  if (Array.isArray(field)) return field.map(withNumbers);
  if (typeof field === "object" && field !== null) {
    return Object.fromEntries(Object.entries(field).map(([key, each]) => [key, withNumbers(each)]));
  }
  return expressions[String(field)] ?? field;
}

const expressions: Readonly<Record<string, string>> = {
  [replicas]: plain(".Values.replicas"),
  [timeoutSeconds]: plain(".Values.webhook.timeoutSeconds"),
  [`${hours.caValidity}h`]: '{{ .Values.webhook.caValidity | default "8760h" }}',
  [`${hours.certificateValidity}h`]: '{{ .Values.webhook.certificateValidity | default "720h" }}',
};

const usualRequestMiB = webhookOptions.maxRequestBytes.initial / 1024 / 1024;

/** The named templates that the others include. */
export const helpers = `{{- define "ebb.fullname" -}}
{{- $name := contains .Chart.Name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) }}
{{- .Values.fullnameOverride | default $name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "ebb.chart" -}}
{{- printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "ebb.image" -}}
{{- required "image.repository: expected the image that has ebb as /ebb, such as registry.example.com/ebb" .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ with .Values.image.digest }}@{{ . }}{{ end }}
{{- end }}

{{- /* A label selector as kubectl has it. */}}
{{- define "ebb.selector" -}}
{{- range $at, $one := . }}
{{- if $at }},{{ end }}
{{- if eq .operator "DoesNotExist" }}!{{ end }}{{ .key }}
{{- if eq .operator "In" }} in ({{ join "," .values }}){{ end }}
{{- if eq .operator "NotIn" }} notin ({{ join "," .values }}){{ end }}
{{- end }}
{{- end }}

{{- /* The webhook's memory limit, which follows from the largest request. */}}
{{- define "ebb.webhookMemory" -}}
{{- $request := .Values.webhook.maxRequestBytes | default "${usualRequestMiB}Mi" | trimSuffix "Mi" | int }}
{{- $needed := add ${memory.idleMiB} (mul ${memory.biggestAtOnce + memory.timesItsSize} $request) }}
{{- if or .Values.webhook.registries .Values.webhook.registryMirror }}{{ $needed = add $needed ${memory.lookUpsMiB} }}{{ end }}
{{- divf (mulf ${memory.spare} $needed) ${memory.stepMiB} | ceil | int | mul ${memory.stepMiB} }}Mi
{{- end }}
`;

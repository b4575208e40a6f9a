import { ofLookUpsAlone, ofOwnCa, passedOn, toReaper } from "../../src/core/cli/cluster/installation-options.ts";
import type { Requirement } from "../../src/core/cli/cluster/label-selector.ts";
import { methodKinds } from "../../src/core/reap/methods.ts";
import type { Component, Installation, Manifest } from "../../src/kube/manifests/installation.ts";
import { reaperManifests } from "../../src/kube/manifests/reaper.ts";
import { webhookManifests } from "../../src/kube/manifests/webhook.ts";
import { type Choice, conditionsOf } from "./conditions.ts";
import { decorated } from "./decorated.ts";
import { args, each, given, plain, yaml } from "./marks.ts";
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
    imagePullSecrets: [each('include "ebb.imagePullSecrets" . | fromJsonArray')],
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
    const all = manifests(chosen).map((manifest) => decorated(withNumbers(manifest) as Manifest, name));
    addManifests(union, all, 1n << BigInt(at));
  }
  const lines = printManifests(union, { conditions, argsOf });
  return withIndents([
    `{{- if .Values.${name}.enabled }}`,
    ...refusals[name],
    ...lines,
    ...otherwise[name],
    "{{- end }}",
  ]);
}

const needsRegistries = Object.keys(ofLookUpsAlone).map((key) => `webhook.${key}`);
const isGiven = needsRegistries.map((path) => `.Values.${path}`).join(" ");

const refusals: Readonly<Record<Component, readonly string[]>> = {
  webhook: [
    `{{- if and (or ${isGiven}) (not (or .Values.webhook.registries .Values.webhook.registryMirror)) }}`,
    `{{- fail "${needsRegistries.join(", ")}: no registry is asked; name some in webhook.registries" }}`,
    "{{- end }}",
  ],
  reaper: [
    "{{- if and .Values.reaper.schedule (or .Values.podMonitor .Values.prometheusRule) (not .Values.webhook.enabled) }}",
    '{{- fail "podMonitor, prometheusRule: a CronJob (reaper.schedule) has no metrics; leave them out" }}',
    "{{- end }}",
  ],
};

const otherwise: Readonly<Record<Component, readonly string[]>> = {
  webhook: [
    "{{- else if not .Values.reaper.enabled }}",
    '{{- fail "webhook.enabled, reaper.enabled: nothing would be installed; set one of them to true" }}',
  ],
  reaper: [],
};

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

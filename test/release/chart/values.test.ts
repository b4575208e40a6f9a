import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { version } from "../../../package.json";
import { chart, type Helm, helms, type Objects, render, repository, type Values } from "./rendered.ts";

// Where each value of the chart goes.

/** A value, what the objects have with it and do not have without it, and other values that both have. */
type Row = readonly [path: string, value: unknown, objects: Objects, beside?: object];

type Component = "webhook" | "reaper";

const template = (component: Component, fields: object): Objects => ({
  [`Deployment ebb-${component}`]: { spec: { template: fields } },
});
const pod = (component: Component, spec: object): Objects => template(component, { spec });
const container = (component: Component, fields: object): Objects => pod(component, { containers: [fields] });
const given = (...words: readonly string[]) => expect.arrayContaining([...words]);
const args = (component: Component, ...words: readonly string[]): Objects =>
  container(component, { args: given(...words) });
const both = (of: (component: Component) => Objects): Objects => ({ ...of("webhook"), ...of("reaper") });
const webhooks = (fields: object): Objects => ({
  "MutatingWebhookConfiguration ebb-webhook": { webhooks: [fields, fields] },
});
const mounted = (name: string, source: object, arg: string): Objects =>
  pod("webhook", {
    volumes: [{ name, ...source }],
    containers: [{ volumeMounts: [{ name, mountPath: `/${name}`, readOnly: true }], args: given(arg) }],
  });

const digest = `sha256:${"0123456789abcdef".repeat(4)}`;
const on = { key: "mesh", operator: "In", values: ["on"] };
const selecting = { matchExpressions: expect.arrayContaining([on]) };
const asking = { webhook: { registries: ["docker.io"] } };
const tolerations = [{ key: "a", operator: "Exists" }];
const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [] } };
/** Texts that are something else in YAML, in a template or for a printf, if they are not quoted. */
const entrypoints = ['app=["/a b", "ü\\n", "{{ .Values.all }}"]', "web=/bin/x: #y %s 'z'\\t", "r.io/a=- b: c"];

const ofPods = (component: Component): readonly Row[] => [
  [`${component}.resources`, { limits: { cpu: "1" } }, container(component, { resources: { limits: { cpu: "1" } } })],
  [`${component}.nodeSelector`, { a: "b" }, pod(component, { nodeSelector: { a: "b", "kubernetes.io/os": "linux" } })],
  [`${component}.tolerations`, tolerations, pod(component, { tolerations })],
  [`${component}.affinity`, affinity, pod(component, { affinity })],
  [`${component}.podAnnotations`, { team: "1" }, template(component, { metadata: { annotations: { team: "1" } } })],
  [`${component}.podLabels`, { team: "true" }, template(component, { metadata: { labels: { team: "true" } } })],
];

const rows: readonly Row[] = [
  ["fullnameOverride", "on", { "Deployment on-webhook": { metadata: { labels: { "app.kubernetes.io/instance": "on" } } } }],
  ["fullnameOverride", "true", { "PrometheusRule true": { metadata: { name: "true" } } }, { prometheusRule: true }],
  ["image.repository", "r:5000/a", both((each) => container(each, { image: `r:5000/a:${version}`, args: given(`--image=r:5000/a:${version}`) }))],
  ["image.tag", "1e3", both((each) => container(each, { image: `${repository}:1e3`, args: given(`--image=${repository}:1e3`) }))],
  ["image.digest", digest, both((each) => container(each, { image: `${repository}:${version}@${digest}` }))],
  ["image.pullPolicy", "Always", both((each) => container(each, { imagePullPolicy: "Always", args: given("--image-pull-policy=Always") }))],
  ["imagePullSecrets", ["true", { name: "b.c" }], both((each) => pod(each, { imagePullSecrets: [{ name: "true" }, { name: "b.c" }] }))],
  ["priorityClass", "1e3", both((each) => pod(each, { priorityClassName: "1e3" }))],
  ["logLevel", "debug", both((each) => args(each, "--log-level=debug"))],
  ["logFormat", "json", both((each) => args(each, "--log-format=json"))],
  ["selector", [on, { key: "no", operator: "DoesNotExist" }], { ...webhooks({ objectSelector: selecting }), ...args("reaper", "--selector=mesh in (on),!no") }],
  ["networkPolicy", true, both((each) => ({ [`NetworkPolicy ebb-${each}`]: { spec: { policyTypes: ["Ingress"] } } }))],
  ["podMonitor", true, both((each) => ({ [`PodMonitor ebb-${each}`]: { spec: { podMetricsEndpoints: [{ port: "http" }] } } }))],
  ["prometheusRule", true, { "PrometheusRule ebb": { spec: { groups: [{ name: "ebb-webhook" }, { name: "ebb-reaper" }] } } }],

  ["webhook.enabled", true, { "Deployment ebb-webhook": {} }, { webhook: { enabled: false } }],
  ["webhook.replicas", 3, { "Deployment ebb-webhook": { spec: { replicas: 3 } } }],
  ["webhook.all", true, args("webhook", "--all")],
  ["webhook.all", true, { "MutatingWebhookConfiguration ebb-webhook": { webhooks: [{ matchConditions: [{ name: "not-opted-out" }] }] } }],
  ["webhook.namespaceSelector", [on], webhooks({ namespaceSelector: selecting })],
  ["webhook.failurePolicy", "Fail", webhooks({ failurePolicy: "Fail" })],
  ["webhook.timeoutSeconds", 3, webhooks({ timeoutSeconds: 3 })],
  ["webhook.volume", "image", args("webhook", "--volume=image")],
  ["webhook.set", ["drain=40s", "header=a: b # c"], args("webhook", "--set=drain=40s", "--set=header=a: b # c")],
  ["webhook.entrypoint", entrypoints, args("webhook", ...entrypoints.map((text) => `--entrypoint=${text}`))],
  ["webhook.registries", ["docker.io", "r.io:5000"], args("webhook", "--registries=docker.io,r.io:5000")],
  ["webhook.registryMirror", ["a.io=http://[::1]:5/b"], args("webhook", "--registry-mirror=a.io=http://[::1]:5/b")],
  ["webhook.pullSecrets", true, args("webhook", "--pull-secrets"), asking],
  ["webhook.registrySecret", "1e3", mounted("registry-credentials", { secret: { secretName: "1e3" } }, "--registry-config=/registry-credentials/.dockerconfigjson"), asking],
  ["webhook.registryCaConfigMap", "true", mounted("registry-ca", { configMap: { name: "true" } }, "--ca-file=/registry-ca/ca.crt"), asking],
  ["webhook.certManager", true, mounted("certificates", { secret: { secretName: "ebb-webhook-tls" } }, "--cert-dir=/certificates")],
  ["webhook.certManager", true, { "Certificate ebb-webhook": { spec: { secretName: "ebb-webhook-tls", dnsNames: ["ebb-webhook.mesh.svc", "ebb-webhook.mesh.svc.cluster.local"] } } }],
  ["webhook.certManager", true, { "MutatingWebhookConfiguration ebb-webhook": { metadata: { annotations: { "cert-manager.io/inject-ca-from": "mesh/ebb-webhook" } } } }],
  ...ofPods("webhook"),

  ["reaper.enabled", true, { "Deployment ebb-reaper": {} }],
  ["reaper.reapNamespace", ["shop", "true"], args("reaper", "--namespace=shop", "--namespace=true")],
  ["reaper.schedule", "*/5 * * * *", { "CronJob ebb-reaper": { spec: { schedule: "*/5 * * * *", jobTemplate: { spec: { template: { spec: { restartPolicy: "Never", containers: [{ args: given("--once") }] } } } } } } }],
  ["reaper.allJobs", true, args("reaper", "--all-jobs")],
  ["reaper.after", "1m30s", args("reaper", "--after=1m30s")],
  ["reaper.methods", ["exec", "ephemeral"], args("reaper", "--methods=exec,ephemeral")],
  ["reaper.allowReapExec", true, args("reaper", "--allow-reap-exec")],
  ["reaper.dryRun", true, args("reaper", "--dry-run")],
  ["reaper.qps", 1_234_567, args("reaper", "--qps=1234567")],
  ...ofPods("reaper"),
]; // biome-ignore format: a table

test("every value of values.yaml is in the table", () => {
  const initial = parse(readFileSync(join(chart, "values.yaml"), "utf8"));
  const leaves = Object.entries<object>(initial).flatMap(([key, value]) =>
    ["image", "webhook", "reaper"].includes(key) ? Object.keys(value).map((each) => `${key}.${each}`) : [key],
  );
  expect([...new Set(rows.map(([path]) => path))].toSorted()).toEqual(leaves.toSorted());
});

const withReaper = { reaper: { enabled: true } };

describe.each(helms)("%s takes it to its place:", (helm) => {
  test.concurrent.each(rows)("%s: %j", async (path, value, objects, beside = {}) => {
    const others = path === "reaper.enabled" ? {} : { ...withReaper, ...beside };
    const [key = "", parent] = path.split(".").reverse();
    const own = parent === undefined ? { [key]: value } : { [parent]: { [key]: value } };
    const [having, lacking] = await Promise.all([render(helm, merged(others, own)), rendered(helm, others)]);
    expect(having).toMatchObject(objects);
    for (const [name, expected] of Object.entries(objects))
      expect({ [name]: lacking[name] }).not.toMatchObject({ [name]: expected });
  });

  test("the manual's, for a cluster without internet", async () => {
    const page = readFileSync(join(chart, "../../src/manual/air-gapped.md"), "utf8");
    const [, values = ""] = /^```yaml\n([\s\S]*?)^```$/m.exec(page) ?? [];
    const objects = await render(helm, parse(values));
    const specOf = (component: Component) => objects[`Deployment ebb-${component}`].spec.template.spec;
    for (const { imagePullSecrets, containers } of [specOf("webhook"), specOf("reaper")]) {
      expect(imagePullSecrets).toEqual([{ name: "regcred" }]);
      expect(containers[0].image).toBe(`registry.internal/ebb:${version}`);
    }
    const { containers, volumes } = specOf("webhook");
    const registries = ["--registries=registry.internal", "--registry-mirror=docker.io=registry.internal/hub"];
    expect(containers[0].args).toEqual(given(...registries, "--ca-file=/registry-ca/ca.crt", "--pull-secrets"));
    expect(volumes).toEqual([{ name: "registry-ca", configMap: { name: "internal-ca" } }]);
  });

  test("those of a component that is switched off change nothing", async () => {
    const webhook = { enabled: false };
    const reaper = { dryRun: true, qps: 20 };
    expect(await render(helm, { reaper })).toEqual(await render(helm, {}));
    const values = { webhook: { ...webhook, pullSecrets: true, failurePolicy: "Fail" }, ...withReaper };
    expect(await render(helm, values)).toEqual(await render(helm, { webhook, ...withReaper }));
  });

  test.each(["webhook", "reaper"])("the %s's pods keep the chart's own labels and annotations", async (component) => {
    const podLabels = { "app.kubernetes.io/component": "mine", team: "a" };
    const podAnnotations = { "ebb.dev/inject": "true", team: "a" };
    const objects = await render(helm, { [component]: { enabled: true, podLabels, podAnnotations } });
    const { metadata } = objects[`Deployment ebb-${component}`].spec.template;
    expect(metadata.labels).toMatchObject({ "app.kubernetes.io/component": component, team: "a" });
    expect(metadata.annotations).toEqual({ "ebb.dev/inject": "false", team: "a" });
  });
});

const known = new Map<string, Promise<Objects>>();

/** Renders values once. */
function rendered(helm: Helm, values: Values): Promise<Objects> {
  const key = JSON.stringify([helm, values]);
  const objects = known.get(key) ?? render(helm, values);
  known.set(key, objects);
  return objects;
}

/** Merges the values of a component. */
function merged(values: Values, own: Values): Values {
  const entries = Object.entries(own).map(([key, value]) => [
    key,
    key in values ? Object.assign({}, values[key], value) : value,
  ]);
  return { ...values, ...Object.fromEntries(entries) };
}

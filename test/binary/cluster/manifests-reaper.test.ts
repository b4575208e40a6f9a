import { describe, expect, test } from "bun:test";
import { parseAllDocuments } from "yaml";
import { readOperandCall } from "../../../src/core/cli/call.ts";
import { reaperOptions } from "../../../src/core/cli/cluster/reaper-options.ts";
import { methodKinds } from "../../../src/core/reap/methods.ts";
import { usableMethods } from "../../../src/core/reap/policy.ts";
import { ebb } from "../../harness.ts";

// biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes, read deeply
type Any = any;

const image = "registry.example.com/ebb:0.1.0";

/** As Kubernetes reads YAML: 1.1. */
async function objects(...flags: readonly string[]): Promise<Any[]> {
  const { code, stdout, stderr } = await ebb(["manifests", "--image", image, ...flags]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return parseAllDocuments(stdout, { version: "1.1" }).map((document) => {
    expect([...document.errors, ...document.warnings]).toEqual([]);
    return document.toJS();
  });
}

function find(all: readonly Any[], kind: string): Any {
  const found = all.filter((object) => object.kind === kind);
  expect(found).toHaveLength(1);
  return found[0];
}

function templateOf(all: readonly Any[]): Any {
  const made = all.find(({ kind }) => kind === "CronJob")?.spec.jobTemplate ?? find(all, "Deployment");
  return made.spec.template;
}

const podOf = (all: readonly Any[]) => templateOf(all).spec;
const containerOf = (all: readonly Any[]) => podOf(all).containers[0];

/** What the reaper takes its flags for. */
function settingsOf(all: readonly Any[]) {
  const { values, origins } = readOperandCall(reaperOptions, { args: containerOf(all).args, env: {} });
  return { values, methods: usableMethods(values, origins.methods !== "default") };
}

const cluster = ["ClusterRole", "ClusterRoleBinding"];
const role = ["Role", "RoleBinding"];
const ofLease = ["Lease", ...role];
const running = ["PodDisruptionBudget", "Deployment"];
const ofWebhook = [
  "MutatingWebhookConfiguration",
  "ServiceAccount",
  "Secret",
  ...ofLease,
  ...cluster,
  "Service",
  ...running,
];

describe("ebb manifests reaper prints", () => {
  test.each<[string, string[], string[]]>([
    ["rights in the cluster, and replicas that agree by a Lease", [], [...cluster, ...ofLease, ...running]],
    ["a Role for each namespace", ["--reap-namespace", "a,b"], [...role, ...role, ...ofLease, ...running]],
    ["a CronJob, which needs no Lease", ["--schedule", "*/5 * * * *"], [...cluster, "CronJob"]],
    ["no Lease for a dry run", ["--dry-run", "--reap-namespace", "a"], [...role, ...running]],
    ["a PodMonitor", ["--pod-monitor"], [...cluster, ...ofLease, ...running, "PodMonitor"]],
    ["a NetworkPolicy", ["--network-policy"], [...cluster, ...ofLease, "NetworkPolicy", ...running]],
  ])("%s", async (_, flags, kinds) => {
    const all = await objects(...flags, "reaper");
    expect(all.map(({ kind }) => kind)).toEqual(["Namespace", "ServiceAccount", ...kinds]);
  });

  test("the webhook before it where both are asked for, and no object of both", async () => {
    const both = await objects("reaper", "webhook");
    const ofReaper = ["ServiceAccount", ...cluster, ...ofLease, ...running];
    expect(both.map(({ kind }) => kind)).toEqual(["Namespace", ...ofWebhook, "Namespace", ...ofReaper]);
    const [webhook, reaper] = [await objects("webhook"), await objects("reaper")];
    expect(both).toEqual([...webhook, ...reaper]);
    const names = both.map(({ kind, metadata }) => `${kind} ${metadata.namespace} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  test("nothing where it is not asked for", async () => {
    expect((await objects()).map(({ kind }) => kind)).toEqual(["Namespace", ...ofWebhook]);
  });
});

const calls: readonly string[][] = [
  [],
  ["--name", "second", "--namespace", "mesh", "--network-policy"],
  ["--reap-namespace", "shop", "--reap-namespace", "bank,shop", "--methods", "port-forward"],
  ["--reap-namespace", "ebb-reaper", "--all-jobs", "--after", "30s", "--selector", "team in (a,b)"],
  ["--schedule", "@hourly", "--methods", "ephemeral,exec", "--network-policy", "--log-level", "debug"],
  ["--dry-run", "--image-pull-policy", "Always", "--qps", "5", "--burst", "6", "--concurrency", "7", "--resync", "1h"],
];

describe.each(calls.map((call) => [call.join(" "), call] as const))("in what `%s` prints", (_, call) => {
  const made = objects("reaper", ...call);

  test("no two objects are one, and all have labels and a namespace that is asked for", async () => {
    const all = await made;
    const { namespace } = find(all, "ServiceAccount").metadata;
    const names = all.map(({ kind, metadata }) => `${kind} ${metadata.namespace} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    const places = [namespace, undefined, ...settingsOf(all).values.namespace.flat()];
    for (const { kind, metadata } of all) {
      expect(places).toContain(metadata.namespace);
      expect(metadata.namespace === undefined).toBe(/^(Namespace|Cluster)/.test(kind));
      expect(metadata.labels["app.kubernetes.io/name"]).toBe("ebb");
    }
  });

  test("every selector selects the pods, and no version is in it", async () => {
    const all = await made;
    const { labels } = templateOf(all).metadata;
    const deployments = all.filter(({ kind }) => kind === "Deployment");
    const selectors = [
      ...all.filter(({ kind }) => /Deployment|Disruption/.test(kind)).map(({ spec }) => spec.selector.matchLabels),
      ...(podOf(all).topologySpreadConstraints ?? []).map((each: Any) => each.labelSelector.matchLabels),
      ...all.filter(({ kind }) => kind === "NetworkPolicy").map(({ spec }) => spec.podSelector.matchLabels),
    ];
    expect(selectors.length).toBeGreaterThanOrEqual(deployments.length * 4);
    for (const each of selectors) {
      expect(labels).toMatchObject(each);
      expect(Object.keys(each).sort()).toEqual(
        ["component", "instance", "name"].map((label) => `app.kubernetes.io/${label}`),
      );
    }
  });

  test("the pod may be in a namespace that is restricted", async () => {
    const { securityContext, containers, automountServiceAccountToken } = podOf(await made);
    expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
    expect(containers).toHaveLength(1);
    expect(containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    expect(automountServiceAccountToken).toBe(true);
  });

  test("probes and metrics are asked where the reaper answers, if it stays", async () => {
    const all = await made;
    const { ports = [], readinessProbe, livenessProbe } = containerOf(all);
    const { values } = settingsOf(all);
    const asked = [readinessProbe, livenessProbe].map((probe) => probe?.httpGet.port);
    const policies = all.filter(({ kind }) => kind === "NetworkPolicy").map(({ spec }) => spec.ingress);
    if (values.once) {
      expect({ ports, asked }).toEqual({ ports: [], asked: [undefined, undefined] });
      for (const ingress of policies) expect(ingress).toEqual([]);
      return;
    }
    expect(asked).toEqual(["http", "http"]);
    expect(ports).toEqual([{ name: "http", containerPort: values.healthListen.port, protocol: "TCP" }]);
    for (const [{ ports: open }] of policies) expect(open).toEqual([{ port: "http", protocol: "TCP" }]);
  });

  test("the rights are those of the pods' account, and what the reaper's flags need", async () => {
    const all = await made;
    const { name, namespace } = find(all, "ServiceAccount").metadata;
    expect(podOf(all).serviceAccountName).toBe(name);
    for (const { kind, metadata, roleRef, subjects } of all.filter((each) => each.kind.endsWith("Binding"))) {
      expect(subjects).toEqual([{ kind: "ServiceAccount", name, namespace }]);
      const roles = all.filter((each) => each.kind === kind.replace("Binding", ""));
      const bound = roles.filter((each) => each.metadata.namespace === metadata.namespace);
      expect(bound.map((each) => each.metadata.name)).toContain(roleRef.name);
    }
    const { values, methods } = settingsOf(all);
    const roles = all.filter(({ kind, metadata }) => /Role$/.test(kind) && !metadata.name.endsWith("-lease"));
    const places = values.namespace.length === 0 ? [undefined] : values.namespace.flat();
    expect(roles.map(({ metadata }) => metadata.namespace)).toEqual(places);
    const acting = values.dryRun ? [] : methods.map((each) => resourceOf[each]);
    for (const { rules } of roles) {
      const resources = rules.flatMap((rule: Any) => rule.resources);
      expect(resources.sort()).toEqual(
        ["pods", "namespaces", ...acting, ...(values.dryRun ? [] : ["events"])].toSorted(),
      );
      expect(JSON.stringify(rules)).not.toContain("*");
    }
    const leases = all.filter(({ kind, metadata }) => kind === "Role" && metadata.name.endsWith("-lease"));
    expect(leases).toHaveLength(values.once || values.dryRun ? 0 : 1);
    for (const { rules, metadata } of leases) {
      expect(metadata.namespace).toBe(namespace);
      const [{ resourceNames, verbs }] = rules;
      expect({ count: rules.length, resourceNames, verbs }).toEqual({
        count: 1,
        resourceNames: [values.lease],
        verbs: ["get", "update"],
      });
      expect(find(all, "Lease").metadata).toMatchObject({ name: values.lease, namespace });
    }
  });
});

const resourceOf = { exec: "pods/exec", "port-forward": "pods/portforward", ephemeral: "pods/ephemeralcontainers" };

test("each method has its resource", () => {
  expect(Object.keys(resourceOf)).toEqual([...methodKinds]);
});

describe("an option of ebb manifests reaper", () => {
  test.each<[string[], (all: Any[]) => unknown, unknown]>([
    [[], (all) => containerOf(all).args, [`--image=${image}`, "--lease=ebb-reaper"]],
    [["--name", "two"], (all) => settingsOf(all).values.lease, "two-reaper"],
    [
      ["--reap-namespace", "a", "--reap-namespace", "b,a"],
      (all) => settingsOf(all).values.namespace.flat(),
      ["a", "b"],
    ],
    [["--all-jobs"], (all) => settingsOf(all).values.allJobs, true],
    [["--after", "1m"], (all) => settingsOf(all).values.after, 60_000],
    [["--selector", "a in (b,c),!d"], (all) => settingsOf(all).values.selector, "a in (b,c),!d"],
    [["--methods", "ephemeral,exec"], (all) => settingsOf(all).methods, ["ephemeral", "exec"]],
    [["--dry-run"], (all) => settingsOf(all).values.dryRun, true],
    [["--image-pull-policy", "Never"], (all) => settingsOf(all).values.imagePullPolicy, "Never"],
    [["--image-pull-policy", "Never"], (all) => containerOf(all).imagePullPolicy, "Never"],
    [["--log-level", "debug"], (all) => settingsOf(all).values.logLevel, "debug"],
    [["--resync", "1h"], (all) => settingsOf(all).values.resync, 3_600_000],
    [["--replicas", "3"], (all) => find(all, "Deployment").spec.replicas, 3],
    [["--priority-class", "p"], (all) => podOf(all).priorityClassName, "p"],
    [["--schedule", "*/5 1-3 * * MON,TUE"], (all) => find(all, "CronJob").spec.schedule, "*/5 1-3 * * MON,TUE"],
    [["--schedule", "@every 10m"], (all) => find(all, "CronJob").spec.schedule, "@every 10m"],
    [["--schedule", "@daily"], (all) => find(all, "CronJob").spec.concurrencyPolicy, "Forbid"],
    [["--schedule", "@daily"], (all) => podOf(all).restartPolicy, "Never"],
    [["--schedule", "@daily"], (all) => settingsOf(all).values.once, true],
  ])("%j is in the objects", async (flags, of, expected) => {
    expect(of(await objects(...flags, "reaper"))).toEqual(expected);
  });

  test.each<[string, string[], string]>([
    ["no schedule", ["reaper", "--schedule", "hourly"], '--schedule: expected a CronJob schedule such as "*/5'],
    ["too few fields", ["reaper", "--schedule", "* * * *"], "--schedule: expected"],
    [
      "no namespace",
      ["reaper", "--reap-namespace", "a,B"],
      '--reap-namespace: expected names such as shop or shop,bank, got "a,B"',
    ],
    ["no methods", ["reaper", "--methods", "kill"], "--methods: expected of exec, port-forward, ephemeral"],
    [
      "replicas of a CronJob",
      ["reaper", "--schedule", "@daily", "--replicas", "3"],
      "--replicas: with --schedule there are none",
    ],
    [
      "metrics of a CronJob",
      ["reaper", "--schedule", "@daily", "--pod-monitor"],
      "--pod-monitor: with --schedule there are none",
    ],
    [
      "the reaper's flag for the webhook",
      ["--all-jobs"],
      "--all-jobs is for the reaper: add the word reaper, or leave it out",
    ],
    [
      "the webhook's for the reaper",
      ["reaper", "--set", "drain=4s"],
      "--set=drain=4s is for the webhook: add the word webhook",
    ],
  ])("that is wrong is exit code 64, and nothing is printed: %s", async (_, flags, message) => {
    const { code, stdout, stderr } = await ebb(["manifests", "--image", image, ...flags]);
    expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
    expect(stderr).toContain(message);
  });
});

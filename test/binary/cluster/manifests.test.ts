import { describe, expect, test } from "bun:test";
import { parseAllDocuments } from "yaml";
import { methodKinds } from "../../../src/cluster/reaper/core/methods.ts";
import { reaperOptions } from "../../../src/cluster/reaper/core/reaper-options.ts";
import { rightsNeeded } from "../../../src/cluster/reaper/core/rights.ts";
import { webhookOptions } from "../../../src/cluster/webhook/core/webhook-options.ts";
import { readFlagCall } from "../../../src/shared/cli/core/call.ts";
import { ebb } from "../../harness/ebb.ts";
import { type Any, containerOf, find, image, objects, objectsOf, podOf, printed } from "./printed-manifests.ts";

const rights = ["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"];
const kindsOf = {
  webhook: [
    ...["MutatingWebhookConfiguration", "Namespace", "ServiceAccount", ...rights, "Secret"],
    ...["Service", "PodDisruptionBudget", "Deployment"],
  ],
  reaper: ["Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Deployment"],
};

describe("ebb manifests prints", () => {
  test("the webhook, its registration first, so that kubectl delete removes that first", async () => {
    expect((await objects("webhook")).map(({ kind }) => kind)).toEqual(kindsOf.webhook);
  });

  test("the reaper", async () => {
    expect((await objects("reaper")).map(({ kind }) => kind)).toEqual(kindsOf.reaper);
  });

  test.each([[[]], [["reaper", "webhook"]]])("both, which share no object, for the words %j", async (words) => {
    const both = await objects(...words);
    expect(both).toEqual([...(await objects("webhook")), ...(await objects("reaper"))]);
    const names = both.map(({ kind, metadata }) => `${kind} ${metadata.namespace} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  // `on` is true in YAML 1.1
  test.each(["mesh", "on"])("no Namespace if one is named, which exists and stays: %s", async (namespace) => {
    const all = await objects("--namespace", namespace);
    expect(all).toEqual(await objects("-n", namespace));
    expect(all.map(({ kind }) => kind)).toEqual(
      [...kindsOf.webhook, ...kindsOf.reaper].filter((kind) => kind !== "Namespace"),
    );
    const named = all.filter(({ metadata }) => metadata.namespace !== undefined);
    expect(named).toHaveLength(9);
    for (const { metadata } of named) expect(metadata.namespace).toBe(namespace);
    expect(JSON.stringify(all)).not.toMatch(/"ebb-webhook"[^}]*"namespace":"ebb|NAMESPACE|IMAGE/);
  });

  test("the image for its own pods, and for the pods that get ebb", async () => {
    for (const component of ["webhook", "reaper"]) {
      const container = containerOf(await objects(component));
      expect(container.image).toBe(image);
      expect(container.args).toContain(`--image=${image}`);
    }
  });

  test("the same each time, whatever the environment", async () => {
    const env = { EBB_IMAGE: "other", EBB_ALL: "true", EBB_SET: "drain=1s", EBB_NAMESPACE: "other" };
    const { stdout } = await ebb(["manifests", "--image", image], { env });
    expect(stdout).toBe(await printed());
  });

  test("flags of the program as its arguments, and at the top the call as a shell takes it", async () => {
    const flags = [
      "--entrypoint",
      `app=["/it's",\n"b"]`,
      "--set",
      "drain=40s",
      "--log-level=debug",
      "--volume",
      "image",
    ];
    const text = await printed("webhook", "--", ...flags);
    expect(containerOf(objectsOf(text)).args.slice(-8)).toEqual([`--image=${image}`, ...flags]);
    const [call] = text.split("\n#\n");
    expect(call).toBe(
      `# Printed by ebb 0.1.0: ebb manifests --image ${image} webhook -- --entrypoint 'app=["/it'\\''s",\n# "b"]' --set drain=40s --log-level=debug --volume image`,
    );
  });

  test("the right to read Secrets for --pull-secrets alone, and says which", async () => {
    const without = await objects("webhook", "--", "--registries", "docker.io");
    const text = await printed("webhook", "--", "--registries", "docker.io", "--pull-secrets");
    const [role, binding] = objectsOf(text).slice(without.length);
    expect(role.rules).toEqual([{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }]);
    expect(binding.roleRef.name).toBe(role.metadata.name);
    expect(text).toContain("# For --pull-secrets: the webhook reads the Secrets that new pods name");
  });

  test("a warning if the image is another release", async () => {
    const { code, stderr } = await ebb(["manifests", "--image", "registry.example.com/ebb:0.2.0"]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        "ebb: manifests: warning: the image is 0.2.0, and this is ebb 0.1.0: print the manifests with ebb 0.2.0\n",
    });
  });
});

describe("ebb manifests refuses", () => {
  const chart = (value: string) => `needs other objects or rights: set ${value} in the Helm chart`;
  const edit = "needs other fields in the Deployment: edit what is printed";
  test.each<[string[], string]>([
    [[], "--image: expected an image with ebb at /ebb, such as registry.example.com/ebb:0.1.0; it is not set"],
    [
      ["--image", "r/ebb:1:0.1.0"],
      '--image: expected an image such as registry.example.com/ebb:0.1.0, got "r/ebb:1:0.1.0"',
    ],
    [["--image", "a", "webhok"], 'expected webhook, reaper or nothing, got "webhok"; did you mean webhook?'],
    [["--image", "a", "-n", "a.b"], '--namespace: expected a namespace\'s name, got "a.b"'],
    [["--image", "a", "--", "--set", "drain=4s"], "flags after -- are for one component: name webhook or reaper"],
    [["--image", "a", "webhook", "--set", "drain=4s"], "unknown flag --set"],
    // as the programs do
    [
      ["--image", "a", "webhook", "--", "--set", "drian=4s"],
      "--set drian: ebb run has no such option; did you mean drain",
    ],
    [["--image", "a", "webhook", "--", "--registries", "all"], "--registries: expected none, or registries such as"],
    [["--image", "a", "reaper", "--", "--after", "x"], "--after: expected a duration"],
    [["--image", "a", "reaper", "--", "--set", "drain=4s"], "unknown flag --set"],
    [["--image", "a", "reaper", "--", "x"], "x: unexpected argument"],
    // what needs more than an argument
    [["--image", "a", "webhook", "--", "--all"], `--all: ${chart("webhook.all")}`],
    [["--image", "a", "webhook", "--", "--cert-dir=/a"], `--cert-dir: ${chart("webhook.certManager")}`],
    [
      ["--image", "a", "webhook", "--", "--registry-config=/a"],
      `--registry-config: ${chart("webhook.registrySecret")}`,
    ],
    [["--image", "a", "webhook", "--", "--ca-file=/a"], `--ca-file: ${chart("webhook.registryCaConfigMap")}`],
    [["--image", "a", "webhook", "--", "--name=a"], `--name: ${chart("fullnameOverride")}`],
    [["--image", "a", "webhook", "--", "--listen=:1"], `--listen: ${edit}`],
    [["--image", "a", "webhook", "--", "--drain=60s"], `--drain: ${edit}`],
    [["--image", "a", "webhook", "--", "--namespace=b"], "--namespace: give it before --"],
    [["--image", "a", "webhook", "--", "--image=b"], "--image: give it before --"],
    [["--image", "a", "reaper", "--", "-n", "shop"], `--namespace: ${chart("reaper.reapNamespace")}`],
    [["--image", "a", "reaper", "--", "--methods=exec"], `--methods: ${chart("reaper.methods")}`],
    [["--image", "a", "reaper", "--", "--dry-run"], `--dry-run: ${chart("reaper.dryRun")}`],
    [["--image", "a", "reaper", "--", "--once"], `--once: ${chart("reaper.schedule")}`],
    [["--image", "a", "reaper", "--", "--kubeconfig=/a"], `--kubeconfig: ${edit}`],
  ])("%j", async (words, message) => {
    const { code, stdout, stderr } = await ebb(["manifests", ...words]);
    expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
    expect(stderr).toContain(message);
  });

  test("all that is wrong at once", async () => {
    const { stderr } = await ebb([
      "manifests",
      "reaper",
      "--image",
      "a",
      "--",
      "--once",
      "--methods=exec",
      "--image=b",
    ]);
    expect(stderr.match(/^ebb: --(once|methods|image): /gm)).toHaveLength(3);
  });
});

const options = { webhook: webhookOptions, reaper: reaperOptions };

describe.each(["webhook", "reaper"] as const)("in the file of the %s", (component) => {
  const made = objects(component);

  test("each object has the labels by which ebb doctor finds it, and a namespace if it needs one", async () => {
    for (const { kind, metadata } of await made) {
      expect(metadata.labels).toMatchObject({
        "app.kubernetes.io/name": "ebb",
        "app.kubernetes.io/component": component,
      });
      expect(metadata.namespace === undefined).toBe(/^(Namespace|Cluster|Mutating)/.test(kind));
      expect([undefined, `ebb-${component}`]).toContain(metadata.namespace);
    }
  });

  test("every selector selects the pods", async () => {
    const all = await made;
    const { template, selector } = find(all, "Deployment").spec;
    const others = all.filter(({ kind }) => ["Service", "PodDisruptionBudget"].includes(kind));
    const selectors = [
      ...others.map(({ spec }) => spec.selector.matchLabels ?? spec.selector),
      ...(template.spec.topologySpreadConstraints ?? []).map((spread: Any) => spread.labelSelector.matchLabels),
    ];
    expect(selectors).toHaveLength(component === "webhook" ? 4 : 0);
    for (const each of selectors) expect(each).toEqual(selector.matchLabels);
    expect(template.metadata.labels).toEqual(selector.matchLabels);
  });

  test("the program takes its arguments, answers where it is asked, and has the time to leave", async () => {
    const all = await made;
    const { args, ports, readinessProbe, livenessProbe } = containerOf(all);
    const { values } = readFlagCall(options[component], { args, env: {} }, "");
    const portNamed = (wanted: string) => ports.find(({ name }: Any) => name === wanted).containerPort;
    for (const { httpGet } of [readinessProbe, livenessProbe]) {
      expect(portNamed(httpGet.port)).toBe(values.healthListen.port);
    }
    if (!("listen" in values)) return;
    const service = find(all, "Service");
    const registration = find(all, "MutatingWebhookConfiguration");
    expect(portNamed(service.spec.ports[0].targetPort)).toBe(values.listen.port);
    for (const { clientConfig } of registration.webhooks) {
      const { name, namespace } = service.metadata;
      expect(clientConfig.service).toMatchObject({ name, namespace, port: service.spec.ports[0].port });
    }
    for (const { metadata } of [service, registration]) expect(metadata.name).toBe(values.name);
    expect(find(all, "Secret").metadata.name).toBe(`${values.name}-certificates`);
    expect(podOf(all).terminationGracePeriodSeconds * 1000).toBeGreaterThan(values.drain + values.minDrain);
  });

  test("the rights are those of the pods' account", async () => {
    const all = await made;
    const { name, namespace } = find(all, "ServiceAccount").metadata;
    expect(podOf(all)).toMatchObject({ serviceAccountName: name, automountServiceAccountToken: true });
    for (const { kind, roleRef, subjects } of all.filter((object) => object.kind.endsWith("Binding"))) {
      expect(subjects).toEqual([{ kind: "ServiceAccount", name, namespace }]);
      expect(roleRef.kind).toBe(kind.replace("Binding", ""));
      expect(find(all, roleRef.kind).metadata.name).toBe(roleRef.name);
    }
  });

  test("no text is something else for a reader of YAML 1.2", async () => {
    const text = await printed(component, "-n", "on");
    const read = parseAllDocuments(text, { version: "1.2" }).map((document) => document.toJS());
    expect(read.filter((each) => each !== null)).toEqual(objectsOf(text));
  });
});

test("the webhook may use its own Secret and its own registration, and nothing else", async () => {
  const all = await objects("webhook");
  const rules = all.filter(({ kind }) => kind.endsWith("Role")).flatMap((role) => role.rules);
  expect(rules.map(({ resources, resourceNames }) => [...resources, ...resourceNames])).toEqual([
    ["secrets", find(all, "Secret").metadata.name],
    ["mutatingwebhookconfigurations", find(all, "MutatingWebhookConfiguration").metadata.name],
  ]);
});

test("the reaper may do what it asks the API server for, and nothing else", async () => {
  const { rules } = find(await objects("reaper"), "ClusterRole");
  const granted = rules.flatMap(({ apiGroups: [group], resources: [resource], verbs }: Any) =>
    verbs.map((verb: string) => `${verb} ${resource} ${group}`),
  );
  const needed = rightsNeeded({ namespaces: [], methods: methodKinds, onlyLooks: false });
  expect(granted.sort()).toEqual(needed.map(({ verb, resource, group }) => `${verb} ${resource} ${group}`).sort());
});

describe("the registration", () => {
  const cases = [
    undefined,
    {},
    { "ebb.dev/inject": "true" },
    { "ebb.dev/inject": "false" },
    { "ebb.dev/inject": "yes" },
    { "ebb.dev/inject": "false", "ebb.dev/status": "{}" },
  ];
  test.each([
    ["pods that opted in", 0, [false, false, true, false, true, true]],
    ["in labelled namespaces, pods that did not opt out", 1, [true, true, true, false, true, true]],
  ])("is about %s", async (_, at, expected) => {
    const { webhooks } = find(await objects("webhook"), "MutatingWebhookConfiguration");
    const [{ expression }] = webhooks[at].matchConditions;
    expect(cases.map((annotations) => evaluate(expression, annotations))).toEqual(expected);
  });

  test("has two webhooks that differ in what they ask about, and where", async () => {
    const { webhooks } = find(await objects("webhook"), "MutatingWebhookConfiguration");
    const labels = webhooks.map(({ namespaceSelector }: Any) => namespaceSelector.matchExpressions[1]);
    expect(labels).toEqual([
      { key: "ebb.dev/inject", operator: "NotIn", values: ["true", "false"] },
      { key: "ebb.dev/inject", operator: "In", values: ["true"] },
    ]);
    expect(webhooks.map(({ clientConfig }: Any) => Object.keys(clientConfig))).toEqual([["service"], ["service"]]);
    expect(webhooks.map(({ clientConfig }: Any) => clientConfig.service.path)).toEqual([
      "/mutate",
      "/mutate/namespace",
    ]);
    const common = ({ name: _, clientConfig: __, matchConditions: ___, namespaceSelector: ____, ...rest }: Any) => rest;
    expect(common(webhooks[0])).toEqual(common(webhooks[1]));
  });

  /** These expressions of CEL are JavaScript, too, but for has(), which asks whether a field is there. */
  function evaluate(expression: string, annotations: unknown): boolean {
    const source = expression.replaceAll(/has\(([\w.]+)\)/g, "($1 !== undefined)");
    return new Function("object", `return ${source}`)({ metadata: { annotations } });
  }
});

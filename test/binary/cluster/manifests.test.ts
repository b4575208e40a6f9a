import { describe, expect, test } from "bun:test";
import { parseAllDocuments } from "yaml";
import { readOperandCall } from "../../../src/core/cli/call.ts";
import { webhookOptions } from "../../../src/core/cli/cluster/webhook-options.ts";
import { ebb } from "../../harness.ts";

// biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes, read deeply
type Any = any;

const image = "registry.example.com/ebb:0.1.0";

async function printed(...flags: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await ebb(["manifests", "--image", image, ...flags]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

/** As Kubernetes reads YAML: 1.1. */
function objectsOf(yaml: string): Any[] {
  return parseAllDocuments(yaml, { version: "1.1" }).map((document) => {
    expect([...document.errors, ...document.warnings]).toEqual([]);
    return document.toJS();
  });
}

async function objects(...flags: readonly string[]): Promise<Any[]> {
  return objectsOf(await printed(...flags));
}

function find(all: readonly Any[], kind: string): Any {
  const found = all.filter((object) => object.kind === kind);
  expect(found).toHaveLength(1);
  return found[0];
}

const podOf = (all: readonly Any[]) => find(all, "Deployment").spec.template.spec;
const containerOf = (all: readonly Any[]) => podOf(all).containers[0];
const hookOf = (all: readonly Any[]) => find(all, "MutatingWebhookConfiguration").webhooks[0];

const withOwnCa = ["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"];
const first = ["MutatingWebhookConfiguration", "ServiceAccount"];
const running = ["Service", "PodDisruptionBudget", "Deployment"];

describe("ebb manifests prints", () => {
  test.each<[string, string[], string[]]>([
    ["what a webhook with a CA of its own needs", [], ["Namespace", ...first, ...withOwnCa, ...running]],
    ["the same where the webhook is named", ["webhook"], ["Namespace", ...first, ...withOwnCa, ...running]],
    [
      "no rights with cert-manager, but certificates",
      ["--cert-manager"],
      ["Namespace", ...first, "Issuer", "Certificate", "Issuer", "Certificate", ...running],
    ],
    [
      "no Namespace where one is named, which exists and stays",
      ["--namespace", "mesh"],
      [...first, ...withOwnCa, ...running],
    ],
    [
      "a NetworkPolicy where that is asked for",
      ["--network-policy"],
      ["Namespace", ...first, ...withOwnCa, "NetworkPolicy", ...running],
    ],
  ])("%s, the registration before what it needs, so that kubectl delete takes it first", async (_, flags, kinds) => {
    expect((await objects(...flags)).map(({ kind }) => kind)).toEqual(kinds);
  });

  test("a few words in a line, more of them below one another", async () => {
    const text = await printed();
    expect(text).toContain("\n    verbs: [get, list, watch, update]\n");
    expect(text).toContain(
      "\n          args:\n            - --namespace=ebb-webhook\n            - --service=ebb-webhook\n",
    );
  });

  test("the same each time, whatever the environment", async () => {
    const env = { EBB_IMAGE: "other", EBB_ALL: "true", EBB_SET: "drain=1s", EBB_NAMESPACE: "other", EBB_NAME: "other" };
    const { stdout } = await ebb(["manifests", "--image", image], { env });
    expect(stdout).toBe(await printed());
  });

  test("the call that made it, at its top, as a shell takes it", async () => {
    const entrypoint = `app=["/it's",\n"b"]`;
    const text = await printed("--entrypoint", entrypoint);
    const [call] = text.split("\n---\n");
    expect(call).toBe(`# ebb 0.1.0, made by: ebb manifests --image ${image} --entrypoint 'app=["/it'\\''s",\n# "b"]'`);
    expect(containerOf(objectsOf(text)).args).toContain(`--entrypoint=${entrypoint}`);
  });
});

const calls: readonly string[][] = [
  [],
  ["--cert-manager", "--network-policy"],
  ["--name", "second", "--namespace", "mesh", "--network-policy"],
  ["--name", `a${"b".repeat(39)}`, "--namespace", "c".repeat(63), "--cert-manager"],
  ["--all", "--replicas", "1", "--volume", "image", "--set", "drain=40s", "--entrypoint", 'app=["/a b"]'],
  ["--selector", "a in (b,c)", "--namespace-selector", "yes=on", "--failure-policy", "Fail"],
];

describe.each(calls.map((call) => [call.join(" "), call] as const))("in what `ebb manifests %s` prints", (_, call) => {
  const made = objects(...call);

  test("each object has a name of its own, labels, and the namespace that there is", async () => {
    const all = await made;
    const names = all.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    const namespace = find(all, "Deployment").metadata.namespace;
    const inCluster = all.filter(({ metadata }) => metadata.namespace === undefined).map(({ kind }) => kind);
    expect(inCluster.every((kind) => /^(Namespace|Cluster|Mutating)/.test(kind))).toBe(true);
    for (const { kind, metadata } of all) {
      expect([namespace, undefined]).toContain(metadata.namespace);
      expect(metadata.name.length).toBeLessThanOrEqual(63);
      expect(metadata.labels["app.kubernetes.io/name"]).toBe("ebb");
      if (kind === "Namespace") expect(metadata.name).toBe(namespace);
    }
  });

  test("every selector selects the pods, and no version is in it", async () => {
    const all = await made;
    const { template, selector } = find(all, "Deployment").spec;
    const { labels } = template.metadata;
    const selectors = [
      selector.matchLabels,
      find(all, "Service").spec.selector,
      find(all, "PodDisruptionBudget").spec.selector.matchLabels,
      ...template.spec.topologySpreadConstraints.map((spread: Any) => spread.labelSelector.matchLabels),
      ...all.filter(({ kind }) => kind === "NetworkPolicy").map(({ spec }) => spec.podSelector.matchLabels),
    ];
    for (const each of selectors) {
      expect(each).toEqual(selector.matchLabels);
      expect(labels).toMatchObject(each);
    }
    expect(Object.keys(selector.matchLabels).sort()).toEqual(
      ["component", "instance", "name"].map((label) => `app.kubernetes.io/${label}`),
    );
  });

  test("every port is one of the container", async () => {
    const all = await made;
    const { ports, readinessProbe, livenessProbe } = containerOf(all);
    const names = ports.map(({ name }: Any) => name);
    const [service] = find(all, "Service").spec.ports;
    const policies = all.filter(({ kind }) => kind === "NetworkPolicy");
    const used = [
      service.targetPort,
      readinessProbe.httpGet.port,
      livenessProbe.httpGet.port,
      ...policies.flatMap(({ spec }) => spec.ingress[0].ports.map(({ port }: Any) => port)),
    ];
    expect(names).toEqual(expect.arrayContaining(used));
    for (const { spec } of policies) expect(spec.ingress[0].ports).toHaveLength(ports.length);
    const asked = hookOf(all).clientConfig.service;
    const { name, namespace } = find(all, "Service").metadata;
    expect(asked).toEqual({ name, namespace, path: "/mutate", port: service.port });
  });

  test("the webhook takes its flags, listens where it is asked, and has the time to leave", async () => {
    const all = await made;
    const { args, ports, readinessProbe, livenessProbe } = containerOf(all);
    const { values } = readOperandCall(webhookOptions, { args, env: {} });
    const { name } = find(all, "MutatingWebhookConfiguration").metadata;
    expect(values).toMatchObject({ image, ...(values.certDir === undefined ? { webhookConfig: name } : {}) });
    const portNamed = (wanted: string) => ports.find(({ name: each }: Any) => each === wanted).containerPort;
    expect(portNamed(find(all, "Service").spec.ports[0].targetPort)).toBe(values.listen.port);
    for (const { httpGet } of [readinessProbe, livenessProbe]) {
      expect(portNamed(httpGet.port)).toBe(values.healthListen.port);
    }
    expect(podOf(all).terminationGracePeriodSeconds * 1000).toBeGreaterThan(values.drain + 5000);
  });

  test("the rights are those of the pods' account, for what the flags name", async () => {
    const all = await made;
    const { name, namespace } = find(all, "ServiceAccount").metadata;
    const { serviceAccountName, automountServiceAccountToken } = podOf(all);
    expect(serviceAccountName).toBe(name);
    const bindings = all.filter(({ kind }) => kind.endsWith("Binding"));
    expect(automountServiceAccountToken).toBe(bindings.length > 0);
    for (const { kind, roleRef, subjects } of bindings) {
      expect(subjects).toEqual([{ kind: "ServiceAccount", name, namespace }]);
      expect(roleRef.kind).toBe(kind.replace("Binding", ""));
      expect(find(all, roleRef.kind).metadata.name).toBe(roleRef.name);
    }
    const rules = all.filter(({ kind }) => kind.endsWith("Role")).flatMap((role) => role.rules);
    const named = rules.flatMap(({ resourceNames = [] }) => resourceNames);
    expect(named.every((each) => containerOf(all).args.some((arg: string) => arg.endsWith(`=${each}`)))).toBe(true);
    expect(rules.filter(({ resourceNames }) => resourceNames === undefined).flatMap(({ verbs }) => verbs)).toEqual(
      bindings.length === 0 ? [] : ["create", "create"],
    );
    expect(JSON.stringify(rules)).not.toContain("*");
  });

  test("the certificate is that of the Service, in the Secret that the webhook reads", async () => {
    const all = await made;
    const { name, namespace } = find(all, "Service").metadata;
    const { args, volumeMounts = [] } = containerOf(all);
    const certificate = all.find(({ kind, spec }) => kind === "Certificate" && spec.isCA !== true);
    const { annotations } = find(all, "MutatingWebhookConfiguration").metadata;
    if (certificate === undefined) {
      expect(args).toEqual(expect.arrayContaining([`--namespace=${namespace}`, `--service=${name}`]));
      expect([annotations, podOf(all).volumes]).toEqual([undefined, undefined]);
      return;
    }
    const [volume] = podOf(all).volumes;
    expect(certificate.spec.dnsNames).toContain(`${name}.${namespace}.svc`);
    expect(volume.secret.secretName).toBe(certificate.spec.secretName);
    expect(volumeMounts).toEqual([{ name: volume.name, mountPath: "/certificates", readOnly: true }]);
    expect(args).toContain("--cert-dir=/certificates");
    expect(annotations).toEqual({ "cert-manager.io/inject-ca-from": `${namespace}/${certificate.metadata.name}` });
    const ca = all.find(({ kind, spec }) => kind === "Certificate" && spec.isCA);
    const issuer = all.find(
      ({ kind, metadata }) => kind === "Issuer" && metadata.name === certificate.spec.issuerRef.name,
    );
    expect(issuer.spec.ca.secretName).toBe(ca.spec.secretName);
    expect(ca.spec.commonName.length).toBeLessThanOrEqual(64);
    expect(ca.spec.secretName).not.toBe(certificate.spec.secretName);
  });

  test("no text is something else for a reader of YAML 1.2", async () => {
    const text = await printed(...call);
    expect(parseAllDocuments(text, { version: "1.2" }).map((document) => document.toJS())).toEqual(await made);
  });
});

describe("an option of ebb manifests", () => {
  test.each<[string[], (all: Any[]) => unknown, unknown]>([
    [[], (all) => find(all, "Deployment").spec.replicas, 2],
    [["--replicas", "3"], (all) => find(all, "Deployment").spec.replicas, 3],
    [[], (all) => containerOf(all).image, image],
    [["--image-pull-policy", "Always"], (all) => containerOf(all).imagePullPolicy, "Always"],
    [["--image-pull-policy", "Always"], (all) => containerOf(all).args.includes("--image-pull-policy=Always"), true],
    [[], (all) => podOf(all).imagePullSecrets, undefined],
    [
      ["--image-pull-secret", "a", "--image-pull-secret", "b.c"],
      (all) => podOf(all).imagePullSecrets,
      [{ name: "a" }, { name: "b.c" }],
    ],
    [[], (all) => podOf(all).priorityClassName, undefined],
    [["--priority-class", "system-cluster-critical"], (all) => podOf(all).priorityClassName, "system-cluster-critical"],
    [[], (all) => hookOf(all).failurePolicy, "Ignore"],
    [["--failure-policy", "Fail"], (all) => hookOf(all).failurePolicy, "Fail"],
    [[], (all) => hookOf(all).timeoutSeconds, 10],
    [["--timeout", "3s"], (all) => hookOf(all).timeoutSeconds, 3],
    [[], (all) => find(all, "Namespace").metadata.name, "ebb-webhook"],
    [["--namespace", "mesh"], (all) => find(all, "Deployment").metadata.namespace, "mesh"],
    [[], (all) => find(all, "Deployment").spec.template.metadata.annotations, { "ebb.dev/inject": "false" }],
    [[], (all) => containerOf(all).resources.limits, { memory: "224Mi" }],
    [["--max-request-bytes", "20Mi"], (all) => containerOf(all).resources.limits, { memory: "480Mi" }],
    [["--name", "two"], (all) => find(all, "MutatingWebhookConfiguration").metadata.name, "two-webhook"],
    [[], (all) => hookOf(all).objectSelector, undefined],
    [
      ["--selector", "a=b,!c"],
      (all) => hookOf(all).objectSelector.matchExpressions,
      [
        { key: "a", operator: "In", values: ["b"] },
        { key: "c", operator: "DoesNotExist" },
      ],
    ],
    [
      ["--namespace-selector", "mesh=on", "--namespace", "own"],
      (all) => hookOf(all).namespaceSelector.matchExpressions,
      [
        { key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["kube-system", "own"] },
        { key: "ebb.dev/inject", operator: "NotIn", values: ["true", "false"] },
        { key: "mesh", operator: "In", values: ["on"] },
      ],
    ],
    [["--network-policy"], (all) => find(all, "NetworkPolicy").spec.policyTypes, ["Ingress"]],
    [
      ["--network-policy", "--cert-manager"],
      (all) => find(all, "NetworkPolicy").spec.policyTypes,
      ["Ingress", "Egress"],
    ],
    [
      ["--certificate-validity", "10d", "--log-level", "debug", "--max-in-flight", "7"],
      (all) => containerOf(all).args.slice(-4),
      ["--certificate-validity=10d", `--image=${image}`, "--max-in-flight=7", "--log-level=debug"],
    ],
    [
      ["--cert-manager", "--certificate-validity", "10d", "--ca-validity", "100d"],
      (all) => all.filter(({ kind }) => kind === "Certificate").map(({ spec }) => spec.duration),
      ["2400h", "240h"],
    ],
    [
      ["--cert-manager", "--certificate-validity", "10d"],
      (all) => containerOf(all).args,
      ["--cert-dir=/certificates", `--image=${image}`],
    ],
    [
      ["--all", "--volume", "image", "--set", "drain=40s", "--set", "quit-on=never", "--entrypoint", "app=/a b"],
      (all) => containerOf(all).args.slice(-6),
      [
        `--image=${image}`,
        "--all",
        "--volume=image",
        "--entrypoint=app=/a b",
        "--set=drain=40s",
        "--set=quit-on=never",
      ],
    ],
  ])("%j is in the objects", async (flags, of, expected) => {
    expect(of(await objects(...flags))).toEqual(expected);
  });

  test.each<[string, string[], string | RegExp]>([
    ["no image", [], /--image: expected the image that has ebb as \/ebb, such as registry\.example\.com\/ebb:0\.1\.0/],
    [
      "an unknown component",
      ["--image", "a", "webhok"],
      'manifests: expected webhook, reaper or nothing, got "webhok"; did you mean webhook?',
    ],
    ["a namespace that is none", ["--namespace", "a.b"], '--namespace: expected a namespace\'s name, got "a.b"'],
    ["a name too long for a Service", ["--name", "a".repeat(41)], /--name: expected at most 40 of a-z, 0-9 and -/],
    ["a name with a digit first", ["--name", "1a"], /--name: expected .* with a letter first .*, got "1a"/],
    ["no replicas", ["--replicas", "0"], '--replicas: expected a number from 1 to 999, got "0"'],
    ["a timeout too long", ["--timeout", "31s"], '--timeout: expected whole seconds from 1s to 30s, got "31s"'],
    ["half a second", ["--timeout", "1500ms"], /--timeout: expected whole seconds/],
    ["no policy", ["--failure-policy", "ignore"], '--failure-policy: expected Ignore or Fail, got "ignore"'],
    ["no labels", ["--selector", "a in b"], /--selector: expected labels as kubectl selects them, .*, got "a in b"/],
    [
      "an option of ebb run with a slip in it",
      ["--image", "a", "--set", "drian=4s"],
      /--set drian: .*did you mean drain\?/,
    ],
    ["an unknown flag", ["--replica", "1"], /unknown flag --replica.*--replicas/],
    ["everything at once", ["--replicas", "x", "--timeout", "y"], /--replicas: .*\n.*--timeout: /],
  ])("that is wrong is exit code 64, and nothing is printed: %s", async (_, flags, message) => {
    const { code, stdout, stderr } = await ebb(["manifests", ...flags]);
    expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
    expect(stderr).toMatch(message);
  });
});

describe("the registration", () => {
  test("asks about all pods of a namespace with the label that do not opt out, at a path of their own", async () => {
    const { webhooks } = find(await objects("--namespace-selector", "mesh=on"), "MutatingWebhookConfiguration");
    expect(webhooks).toHaveLength(2);
    const [ofPods, ofNamespaces] = webhooks;
    const labels = ({ namespaceSelector }: Any) =>
      namespaceSelector.matchExpressions.filter(({ key }: Any) => key === "ebb.dev/inject");
    expect(labels(ofPods)).toEqual([{ key: "ebb.dev/inject", operator: "NotIn", values: ["true", "false"] }]);
    expect(labels(ofNamespaces)).toEqual([{ key: "ebb.dev/inject", operator: "In", values: ["true"] }]);
    expect(ofNamespaces.clientConfig.service).toMatchObject({ name: "ebb-webhook", path: "/mutate/namespace" });
    const [{ expression }] = ofNamespaces.matchConditions;
    const annotations = [undefined, { "ebb.dev/inject": "true" }, { "ebb.dev/inject": "false" }];
    expect(annotations.map((each) => evaluate(expression, each))).toEqual([true, true, false]);
    const common = ({ name: _, clientConfig: __, matchConditions: ___, namespaceSelector: ____, ...rest }: Any) => rest;
    expect(common(ofNamespaces)).toEqual(common(ofPods));
    const all = find(await objects("--all"), "MutatingWebhookConfiguration");
    expect(all.webhooks).toHaveLength(1);
    expect(labels(all.webhooks[0])).toEqual([{ key: "ebb.dev/inject", operator: "NotIn", values: ["false"] }]);
  });

  test.each<[string, string[], boolean[]]>([
    ["pods that opted in are asked about", [], [false, false, true, false, true, true]],
    ["with --all those that did not opt out", ["--all"], [true, true, true, false, true, true]],
  ])("%s", async (_, flags, expected) => {
    const [{ expression }] = hookOf(await objects(...flags)).matchConditions;
    const annotations = [
      undefined,
      {},
      { "ebb.dev/inject": "true" },
      { "ebb.dev/inject": "false" },
      { "ebb.dev/inject": "yes" },
      { "ebb.dev/inject": "false", "ebb.dev/status": "{}" },
    ];
    expect(annotations.map((each) => evaluate(expression, each))).toEqual(expected);
  });

  /** These expressions of CEL are JavaScript, too, but for has(), which asks whether a field is there. */
  function evaluate(expression: string, annotations: unknown): boolean {
    const source = expression.replaceAll(/has\(([\w.]+)\)/g, "($1 !== undefined)");
    return new Function("object", `return ${source}`)({ metadata: { annotations } });
  }

  test("asks again after other webhooks, has no side effects, and leaves caBundle to whoever knows it", async () => {
    const { reinvocationPolicy, sideEffects, rules, clientConfig } = hookOf(await objects());
    expect({ reinvocationPolicy, sideEffects, clientConfig: Object.keys(clientConfig) }).toEqual({
      reinvocationPolicy: "IfNeeded",
      sideEffects: "None",
      clientConfig: ["service"],
    });
    expect(rules).toEqual([
      { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], scope: "Namespaced" },
    ]);
  });
});

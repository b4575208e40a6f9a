import { describe, expect, test } from "bun:test";
import { ebb } from "../../harness.ts";
import { type Any, containerOf, find, hookOf, image, objects, podOf } from "./printed-manifests.ts";

const listed = ["--registries", "quay.io"];

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
    [listed, (all) => containerOf(all).resources.limits, { memory: "288Mi" }],
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
      ["--certificate-validity", "10d", "--log-level", "debug", "--max-requests-in-flight", "7"],
      (all) => containerOf(all).args.slice(-4),
      ["--certificate-validity=10d", `--image=${image}`, "--max-requests-in-flight=7", "--log-level=debug"],
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
      [...listed, "--registry-mirror", "docker.io=mirror.example.com/hub", "--pull-secrets"],
      (all) => containerOf(all).args.slice(-4),
      [
        `--image=${image}`,
        "--registries=quay.io",
        "--registry-mirror=docker.io=mirror.example.com/hub",
        "--pull-secrets",
      ],
    ],
    [
      [...listed, "--pull-secrets"],
      (all) => all.find(({ metadata }) => metadata.name === "ebb-webhook-pull-secrets").rules,
      [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }],
    ],
    [[...listed, "--cert-manager"], (all) => podOf(all).automountServiceAccountToken, false],
    [[...listed, "--cert-manager", "--pull-secrets"], (all) => podOf(all).automountServiceAccountToken, true],
    [
      [...listed, "--registry-secret", "hub", "--registry-ca-configmap", "ca"],
      (all) => [podOf(all).volumes, containerOf(all).volumeMounts],
      [
        [
          { name: "registry-credentials", secret: { secretName: "hub" } },
          { name: "registry-ca", configMap: { name: "ca" } },
        ],
        [
          { name: "registry-credentials", mountPath: "/registry-credentials", readOnly: true },
          { name: "registry-ca", mountPath: "/registry-ca", readOnly: true },
        ],
      ],
    ],
    [
      [...listed, "--registry-secret", "hub", "--registry-ca-configmap", "ca", "--cert-manager"],
      (all) => containerOf(all).args.slice(0, 3),
      [
        "--cert-dir=/certificates",
        "--registry-config=/registry-credentials/.dockerconfigjson",
        "--registry-ca=/registry-ca/ca.crt",
      ],
    ],
    [
      [...listed, "--network-policy", "--cert-manager"],
      (all) => find(all, "NetworkPolicy").spec.policyTypes,
      ["Ingress"],
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
      "an image with two tags",
      ["--image", "r/ebb:1:0.1.0"],
      '--image: expected an image such as registry.example.com/ebb:0.1.0, got "r/ebb:1:0.1.0"',
    ],
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
    ["all registries", ["--registries", "all"], /--registries: expected none, or registries such as .*, got "all"/],
    [
      "credentials where no registry is asked",
      ["--image", "a", "--pull-secrets", "--registry-secret", "b"],
      /--pull-secrets: no registry is asked; .*\n.*--registry-secret=b: no registry is asked; name some by --registries/,
    ],
    ["a file that is not in the pod", ["--registry-ca", "a"], /unknown flag --registry-ca/],
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

  test("asks again after other webhooks, has no side effects, and leaves caBundle to what knows it", async () => {
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

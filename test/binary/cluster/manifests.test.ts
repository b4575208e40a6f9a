import { describe, expect, test } from "bun:test";
import { parseAllDocuments } from "yaml";
import { readOperandCall } from "../../../src/core/cli/call.ts";
import { webhookOptions } from "../../../src/core/cli/cluster/webhook-options.ts";
import { ebb } from "../../harness.ts";
import {
  type Any,
  containerOf,
  find,
  first,
  hookOf,
  image,
  objects,
  objectsOf,
  podOf,
  printed,
} from "./printed-manifests.ts";

const withOwnCa = ["Secret", "Lease", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"];

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
      "the right to read Secrets where that is asked for",
      ["--registries", "quay.io", "--pull-secrets", "--cert-manager"],
      [
        "Namespace",
        ...first,
        ...["Issuer", "Certificate", "Issuer", "Certificate"],
        ...["ClusterRole", "ClusterRoleBinding"],
        ...running,
      ],
    ],
    [
      "a NetworkPolicy where that is asked for",
      ["--network-policy"],
      ["Namespace", ...first, ...withOwnCa, "NetworkPolicy", ...running],
    ],
    [
      "a PodMonitor where that is asked for",
      ["--pod-monitor"],
      ["Namespace", ...first, ...withOwnCa, ...running, "PodMonitor"],
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
  ["--registries", "quay.io", "--pull-secrets", "--registry-secret", "a", "--registry-ca-configmap", "b"],
  ["--name", "second", "--namespace", "mesh", "--network-policy"],
  ["--name", `a${"b".repeat(39)}`, "--namespace", "c".repeat(63), "--cert-manager"],
  ["--all", "--replicas", "1", "--volume", "image", "--set", "drain=40s", "--entrypoint", 'app=["/a b"]'],
  ["--selector", "a in (b,c)", "--namespace-selector", "yes=on", "--failure-policy", "Fail", "--pod-monitor"],
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
      ...all.filter(({ kind }) => kind === "PodMonitor").map(({ spec }) => spec.selector.matchLabels),
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
      ...all.filter(({ kind }) => kind === "PodMonitor").map(({ spec }) => spec.podMetricsEndpoints[0].port),
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
      expect(
        all.filter((object) => object.kind === roleRef.kind && object.metadata.name === roleRef.name),
      ).toHaveLength(1);
    }
    const rules = all.filter(({ kind }) => kind.endsWith("Role")).flatMap((role) => role.rules);
    const named = rules.flatMap(({ resourceNames = [] }) => resourceNames);
    expect(named.every((each) => containerOf(all).args.some((arg: string) => arg.endsWith(`=${each}`)))).toBe(true);
    const ofPullSecrets = call.includes("--pull-secrets") ? ["get"] : [];
    const unnamed = rules.filter(({ resourceNames }) => resourceNames === undefined);
    expect(unnamed.flatMap(({ verbs }) => verbs)).toEqual(ofPullSecrets);
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
      expect(annotations).toBeUndefined();
      expect(podOf(all).volumes?.map(({ name: each }: Any) => each)).not.toEqual(["certificates"]);
      return;
    }
    const [volume] = podOf(all).volumes;
    expect(certificate.spec.dnsNames).toContain(`${name}.${namespace}.svc`);
    expect(volume.secret.secretName).toBe(certificate.spec.secretName);
    expect(certificate.spec.secretName).toBe(`${name}-tls`); // -certificates would be in the way of a CA of its own
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

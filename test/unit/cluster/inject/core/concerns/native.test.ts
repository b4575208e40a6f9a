import { describe, expect, test } from "bun:test";
import { injectPod, removeFromPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import { named } from "../chosen.ts";
import { again } from "../injected-pods.ts";
import { app, changed, type Given, type Loose, podIn, podOf, policy, warnings } from "../injection.ts";
import { unknownImage } from "../registry.ts";

const probe = { httpGet: { path: "/", port: 2020 } };
const logs = {
  name: "logs",
  image: "fluent/fluent-bit:4",
  args: ["-c", "/conf"],
  ports: [{ containerPort: 2020 }],
  readinessProbe: probe,
  lifecycle: { preStop: { exec: { command: ["/flush"] } } },
};
const sql = { name: "sql", image: "gcr.io/cloud-sql-connectors/cloud-sql-proxy:2.18", args: ["db"] };
const names = (list: Loose) => (list ?? []).map(({ name }: Loose) => name);
const says = (sidecars: string, native?: string) => ({
  "ebb.dev/sidecars": sidecars,
  ...(native === undefined ? {} : { "ebb.dev/native": native }),
});

describe("a sidecar becomes native", () => {
  test("if ebb.dev/sidecars names it: the last init container, with all that it had", () => {
    const initContainers = [named("setup")];
    const given = { containers: [app(), logs], spec: { initContainers }, annotations: says("logs") };
    const { spec } = changed(given);
    expect(names(spec.containers)).toEqual(["app"]);
    expect(names(spec.initContainers)).toEqual(["ebb-install", "setup", "logs"]);
    expect(spec.initContainers[2]).toEqual({ ...logs, restartPolicy: "Always" });
    expect(warnings(given)).toEqual([]);
  });

  test.each<[string, NonNullable<Given["annotations"]>, readonly string[]]>([
    ["in the order of the annotation", says("b, logs"), ["b", "logs"]],
    ["not one that ebb knows, unless the pod says so", says("b"), ["b"]],
    [
      'with ebb.dev/native: "true" those that ebb knows, too, after the others',
      says("logs,b", "true"),
      ["logs", "b", "sql"],
    ],
    ['with ebb.dev/native: "true" alone, those', { "ebb.dev/native": "true" }, ["sql"]],
    ["a known one that is named, without more", says("sql"), ["sql"]],
    ['not with ebb.dev/native: "false"', says("logs,b,sql", "false"), []],
    ["whatever else is native", says("logs", "istio"), ["logs"]],
    ["each once", says("logs,logs"), ["logs"]],
    ["not one that is not there", says("logs,istio-proxy"), ["logs"]],
  ])("%s", (_, annotations, expected) => {
    const { spec } = changed({ containers: [logs, app(), sql, named("b")], annotations });
    expect(names(spec.initContainers)).toEqual(["ebb-install", ...expected]);
    expect(names(spec.containers)).toEqual(["logs", "app", "sql", "b"].filter((name) => !expected.includes(name)));
  });

  test.each(["Always", "OnFailure", "Never"])("in a pod with restartPolicy %s", (restartPolicy) => {
    const { spec } = changed({ containers: [app(), logs], spec: { restartPolicy }, annotations: says("logs") });
    expect(names(spec.initContainers)).toEqual(["ebb-install", "logs"]);
  });

  test("also where nobody knows the app's command: then that alone ends the pod", () => {
    const given = { containers: [{ name: "app" }, logs], spec: { restartPolicy: "Never" }, annotations: says("logs") };
    const injection = injectPod(podOf(given), { ...policy, ...unknownImage });
    expect(injection).toMatchObject({ kind: "changed", containers: [], drained: [] });
    expect(injection.warnings).toHaveLength(1);
    const pod = podIn(injection);
    expect(pod.spec).toEqual({
      containers: [{ name: "app" }],
      restartPolicy: "Never",
      initContainers: [{ ...logs, restartPolicy: "Always" }],
    });
    expect(injectPod(pod, { ...policy, ...unknownImage }).kind).toBe("unchanged");
    expect(removeFromPod(pod)).toMatchObject({ kind: "removed", pod: podOf(given) });
  });

  test.each<[NonNullable<Given["annotations"]>, string | undefined]>([
    [says("sql"), "cloud-sql-proxy"],
    [says("logs"), undefined],
    [says("sql,envoy"), "envoy,cloud-sql-proxy"],
    [{ "ebb.dev/native": "true" }, "true,envoy,cloud-sql-proxy"],
    [{ "ebb.dev/native": "TRUE" }, "TRUE,envoy,cloud-sql-proxy"],
    [says("logs", "true"), "true,envoy,cloud-sql-proxy"],
    [says("logs", "false"), "false"],
    [says("logs", "F"), "F"],
    [says("sql", "kuma"), "kuma"],
    [says("sql", "true,kuma"), "true,kuma"],
  ])("and those that ebb knows are named to ebb run: %j", (annotations, expected) => {
    const given = { containers: [app(), logs, sql, named("envoy")], annotations };
    const pod = changed(given);
    const natives = pod.metadata.annotations["ebb.dev/native"];
    expect(natives?.split(",").toSorted()).toEqual(expected?.split(",").toSorted());
    expect(injectPod(pod, policy).kind).toBe("unchanged");
    const before = podOf(given);
    delete before.metadata.annotations["ebb.dev/inject"];
    delete pod.metadata.annotations["ebb.dev/inject"];
    const removed = removeFromPod(pod);
    expect(JSON.stringify("pod" in removed && removed.pod)).toBe(JSON.stringify(before));
  });

  test("so ebb run waits for it, does not quit it, and no hook holds it up", () => {
    const [container] = changed({ containers: [app(), named("envoy")], annotations: says("envoy") }).spec.containers;
    expect(container.env).toContainEqual({ name: "EBB_SIDECAR", value: "auto,envoy" });
    expect(changed({ containers: [app(), named("envoy")], annotations: says("envoy") }).spec.initContainers[1]).toEqual(
      {
        ...named("envoy"),
        restartPolicy: "Always",
      },
    );
  });
});

describe("a sidecar that becomes native is warned of once", () => {
  const byName =
    "before Kubernetes 1.33, a Service cannot find its port by name (metrics): set targetPort to the number";
  const onNode = "before Kubernetes 1.33.6, the scheduler does not see its ports on the node";
  const metrics = { name: "metrics", containerPort: 2020 };
  test.each<[string, object, object, readonly string[]]>([
    ["if a port has a name", metrics, {}, [byName]],
    ["if a port is the node's", { containerPort: 2020, hostPort: 2020 }, { hostNetwork: true }, [onNode]],
    ["if both are so", metrics, { hostNetwork: true }, [byName, onNode]],
  ])("%s", (_, port, spec, parts) => {
    const given = { containers: [app(), { ...logs, ports: [port] }], annotations: says("logs"), spec };
    expect(names(changed(given).spec.initContainers)).toEqual(["ebb-install", "logs"]);
    const said = warnings(given).filter(([field]) => field === "spec.containers[1].ports");
    expect(said).toHaveLength(1);
    for (const part of parts) expect(said[0]?.[1]).toContain(part);
    expect(warnings({ ...given, annotations: says("logs", "false") }).map(([field]) => field)).not.toContain(
      "spec.containers[1].ports",
    );
  });
});

describe("a sidecar stays ordinary, and it is said why,", () => {
  const hooked = { ...logs, lifecycle: { postStart: { exec: { command: ["/after-app"] } } } };
  test.each<[string, readonly object[], string]>([
    ["if its postStart hook may wait for the app", [app(), hooked], "its postStart hook may wait for the app"],
    [
      "if it has a restartPolicy of its own",
      [app(), { ...logs, restartPolicy: "Never" }],
      "a restartPolicy of its own",
    ],
    [
      "if it has a hostPort, on the pod's own network",
      [app(), { ...logs, ports: [{ name: "metrics", containerPort: 2020, hostPort: 2020 }] }],
      "opens a hostPort only for an ordinary container",
    ],
  ])("%s", (_, containers, why) => {
    const given = { containers, annotations: says("logs") };
    expect(changed(given).spec.containers[1]).toEqual(containers[1]);
    expect(warnings(given)).toEqual([
      ["spec.containers[1]", expect.stringMatching(new RegExp(`^"logs" stays ordinary: .*${why}`))],
    ]);
  });

  test("but a postStart hook before the app's container waits for no app", () => {
    const given = { containers: [hooked, app()], annotations: says("logs") };
    expect(names(changed(given).spec.initContainers)).toEqual(["ebb-install", "logs"]);
    expect(warnings(given)).toEqual([]);
  });

  const status = JSON.stringify({ containers: ["istio-proxy"], initContainers: [] });
  test.each<[string, NonNullable<Given["annotations"]>, number]>([
    ["an injected one, if it is named", says("istio-proxy"), 1],
    ["an injected one, without a word if it is not", { "ebb.dev/native": "true" }, 0],
  ])("%s", (_, said, count) => {
    const given = {
      containers: [app(), named("istio-proxy")],
      annotations: { ...said, "sidecar.istio.io/status": status },
    };
    expect(names(changed(given).spec.containers)).toEqual(["app", "istio-proxy"]);
    expect(warnings(given)).toHaveLength(count);
  });

  test("if its orchestrator looks for it there", () => {
    const pod = podOf({ containers: [named("step-a"), named("sidecar-b")], annotations: says("sidecar-b", "true") });
    pod.metadata.labels = { "tekton.dev/taskRun": "run" };
    const { warnings: said } = injectPod(pod, policy);
    const message = '"sidecar-b" stays ordinary: Tekton looks for it among the pod\'s containers';
    expect(said).toEqual([{ field: "spec.containers[1]", message }]);
  });
});

test("a remark names the container's place in the manifest, not where it is without the sidecars", () => {
  const given = { containers: [logs, named("app", { ports: [{ containerPort: 80 }] })], annotations: says("logs") };
  expect(warnings(given)[0]?.[0]).toBe("spec.containers[1].readinessProbe");
});

test("it is put back to its place, and taken from there again where another came meanwhile", () => {
  const containers = [named("a"), logs, named("b")];
  const pod = again({ containers, annotations: says("logs") }, (one) => one.spec.containers.unshift(named("envoy")));
  expect(names(pod.spec.containers)).toEqual(["envoy", "a", "b"]);
  expect(names(pod.spec.initContainers)).toEqual(["ebb-install", "logs"]);
  const back = again({ containers, annotations: says("logs") }, (one) => {
    one.metadata.annotations["ebb.dev/native"] = "false";
  });
  expect(names(back.spec.containers)).toEqual(["a", "logs", "b"]);
  expect(back.spec.containers[1]).toEqual(logs);
});

test("a remark on what ebb had made native names its place in the manifest that was given", () => {
  const unknown = { ...logs, image: "registry.example.com/logs" };
  const given = { containers: [app(), unknown], annotations: says("logs"), spec: { restartPolicy: "Never" } };
  const pod = structuredClone(changed(given));
  delete pod.metadata.annotations["ebb.dev/sidecars"];
  const fields = injectPod(pod, policy).warnings.map(({ field }) => field);
  expect(fields).toEqual(["spec.initContainers[1].command"]);
});

describe("in a pod that ends, a sidecar that will outlive the app is warned of:", () => {
  const envoy = { name: "envoy", image: "envoyproxy/envoy:v1.36", command: ["envoy"] };
  test.each<[string, object, Readonly<Record<string, string>>, string, string]>([
    [
      "an ordinary one that ebb.dev/native calls native",
      envoy,
      { "ebb.dev/native": "envoy" },
      "spec.containers[1]",
      `ebb.dev/native says it is native, but it is an ordinary container; set ebb.dev/native: "true" to make it native, or take "envoy" out`,
    ],
    [
      "one that is kept ordinary, and has no quit",
      logs,
      says("logs", "false"),
      "spec.containers[1]",
      "ebb cannot shut it down; ",
    ],
  ])("%s", (_, sidecar, annotations, field, why) => {
    const given = (restartPolicy: string) => ({ containers: [app(), sidecar], annotations, spec: { restartPolicy } });
    const outlives: [string, string] = [field, expect.stringContaining(`will outlive the app: ${why}`)];
    expect(warnings(given("Never"))).toEqual([outlives]);
    expect(warnings(given("Always")).filter(([, message]) => message?.includes("outlive"))).toEqual([]);
  });
});

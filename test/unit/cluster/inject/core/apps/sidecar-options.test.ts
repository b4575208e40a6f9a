import { describe, expect, test } from "bun:test";
import { injectPod, removeFromPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import { app, changed, type Given, type Loose, podOf, policy, warnings } from "../injection.ts";

function variable(pod: Loose, name: string): unknown {
  return pod.spec.containers[0].env.find((one: Loose) => one.name === name)?.value;
}

const job = { restartPolicy: "Never" };
const quits = { args: ["--quitquitquit", "--port=5432", "p:r:i"] };
const csql = { name: "cloud-sql-proxy", image: "gcr.io/cloud-sql-connectors/cloud-sql-proxy:2.14.1", ...quits };
const alloydb = { name: "db", image: "gcr.io/alloydb-connectors/alloydb-auth-proxy:1.13", ...quits };
const envoy = { name: "edge", image: "envoyproxy/envoy:v1.38.0" };
const moved = (proxy: object, port: number, name = "moved") => ({
  ...proxy,
  name,
  args: ["--quitquitquit", `--admin-port=${port}`],
});
const withAdmin = (proxy: object, port: number) => ({
  ...proxy,
  args: [`--config-yaml={"admin": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": ${port}}}}}`],
});
const off = (...args: readonly string[]) => ({ ...csql, args: [...args, "p:r:i"] });
const makeNative = { annotations: { "ebb.dev/native": "true" } };
const beside = (...sidecars: object[]): Given => ({ containers: [app(), ...sidecars], spec: job });
const native = (sidecar: object): Given => ({
  spec: { ...job, initContainers: [{ ...sidecar, restartPolicy: "Always" }] },
});
const own = (name: string, value: string): Given => ({
  ...beside(csql),
  containers: [app({ env: [{ name, value }] }), csql],
});

describe("the sidecars that a manifest shows are named to ebb run:", () => {
  test.each<[string, Given, string | undefined]>([
    ["a Cloud SQL proxy", beside(csql), "auto,cloud-sql-proxy"],
    ["at another admin port", beside(moved(csql, 9092)), "auto,cloud-sql-proxy:9092"],
    ["an AlloyDB proxy", beside(alloydb), "auto,alloydb-auth-proxy"],
    ["a plain Envoy", beside(envoy), "auto,envoy"],
    ["a plain Envoy whose arguments have its admin port", beside(withAdmin(envoy, 9911)), "auto,envoy:9911"],
    ["several", beside(moved(alloydb, 9093), envoy, csql), "auto,envoy,cloud-sql-proxy,alloydb-auth-proxy:9093"],
    ["a native one", native(moved(csql, 9092)), "auto,cloud-sql-proxy:9092"],
    ["in a server, too", { containers: [app(), csql] }, "auto,cloud-sql-proxy"],
    ["Istio's, before its injector has come", beside({ name: "istio-proxy", image: "auto" }), "auto,istio"],
    [
      "those that have a port, on the node's network, where no other is believed",
      { ...beside(withAdmin(envoy, 9911), moved(csql, 9092), alloydb), spec: { ...job, hostNetwork: true } },
      "envoy:9911,cloud-sql-proxy:9092",
    ],
    [
      "not where an annotation tells of it",
      { ...beside({ name: "daprd" }), annotations: { "dapr.io/enabled": "true" } },
      undefined,
    ],
    ["not where a variable does", own("CSQL_PROXY_QUIT_URLS", "http://localhost:9091/quitquitquit"), undefined],
    ["not an init container that ends", { spec: { ...job, initContainers: [csql] } }, undefined],
    ["not the app", { ...beside(envoy), annotations: { "ebb.dev/apps": "app" } }, "auto,envoy"],
    [
      "not what the user calls the app",
      { containers: [{ ...envoy, command: ["envoy"] }], annotations: { "ebb.dev/apps": "edge" }, spec: job },
      undefined,
    ],
    ["one that cannot be told to quit", beside(off()), "auto,cloud-sql-proxy"],
    ["nor where it would be, where it has no quit", beside(off("--admin-port=9092")), "auto,cloud-sql-proxy"],
    ["a native one of that kind", native(off()), "auto,cloud-sql-proxy"],
    ["which listens elsewhere", native(off("--port", "6432")), "auto,cloud-sql-proxy:6432"],
    ["one that ebb makes native", { ...beside(off("--port=6432")), ...makeNative }, "auto,cloud-sql-proxy:6432"],
    ["rather one that can be told to quit", beside(off(), moved(csql, 9092)), "auto,cloud-sql-proxy:9092"],
    ["not one that listens on a socket", beside(off("--unix-socket=/s")), undefined],
    [
      "not a native one that the user's ebb.dev/native leaves out",
      { ...native(csql), annotations: { "ebb.dev/native": "kuma" } },
      undefined,
    ],
    [
      "not a proxy whose admin interface the user names",
      { ...beside(envoy, csql), annotations: { "ebb.dev/admin": "http://localhost:9000" } },
      "auto,cloud-sql-proxy",
    ],
    [
      "not where the user says what to wait for and what to quit",
      {
        ...beside(envoy),
        annotations: { "ebb.dev/ready": "tcp://localhost:1", "ebb.dev/quit": "http://localhost:1/quit" },
      },
      undefined,
    ],
    [
      "beside the user's, if that looks for others",
      { ...beside(csql, envoy), annotations: { "ebb.dev/sidecar": "auto,istio,envoy:9911" } },
      "auto,istio,envoy:9911,cloud-sql-proxy",
    ],
    ["the user's annotation wins", { ...beside(csql), annotations: { "ebb.dev/sidecar": "istio" } }, "istio"],
    ["the user's variable wins", own("EBB_SIDECAR", "none"), "none"],
  ])("%s", (_, given, expected) => expect(variable(changed(given), "EBB_SIDECAR")).toBe(expected));

  test("a second one of a kind at another port gets a quit of its own", () => {
    const pod = changed(beside(csql, moved(csql, 9092), moved(csql, 9093, "third")));
    expect(variable(pod, "EBB_SIDECAR")).toBe("auto,cloud-sql-proxy");
    expect(variable(pod, "EBB_QUIT")).toBe(
      "+POST http://localhost:9092/quitquitquit,+POST http://localhost:9093/quitquitquit",
    );
    const said = { ...beside(csql, moved(csql, 9092)), annotations: { "ebb.dev/quit": "none" } };
    expect(variable(changed(said), "EBB_QUIT")).toBe("none");
  });

  test("the policy wins", () => {
    expect(variable(changed(beside(csql), { options: new Map([["sidecar", "istio"]]) }), "EBB_SIDECAR")).toBe("istio");
  });

  test.each([beside(csql, envoy), native(csql)])("a second time nothing changes, and it can be taken out", (given) => {
    const pod = changed(given);
    expect(injectPod(pod, policy).kind).toBe("unchanged");
    expect(removeFromPod(pod)).toMatchObject({ kind: "removed", pod: podOf(given) });
  });
});

describe("what no name stands for is waited for where it shows that it listens:", () => {
  const first = { name: "db", image: "gcr.io/cloudsql-docker/gce-proxy:1.33", command: ["/cloud_sql_proxy"] };
  const pool = {
    name: "pool",
    image: "pgbouncer",
    ports: [{ containerPort: 9, protocol: "UDP" }, { containerPort: 6432 }],
  };
  const agent = { name: "agent", image: "r/agent" };
  const said = (sidecar: object): Given => {
    return { ...beside(sidecar), annotations: { "ebb.dev/sidecars": "agent", "ebb.dev/native": "true" } };
  };
  const probed = { startupProbe: { tcpSocket: { port: 1 } } };
  const asNative = (...sidecars: object[]): Given => ({ ...beside(...sidecars), ...makeNative });
  const says = 'nothing waits for "';

  test.each<[string, Given, string | undefined, readonly string[]]>([
    ["a Cloud SQL proxy without a quit", beside(off("--port=6432")), "tcp://localhost:6432", []],
    ["its version 1", beside({ ...first, args: ["-instances=p:r:i=tcp:3307"] }), "tcp://localhost:3307", []],
    ["a second one of a kind", beside(csql, moved(csql, 9092)), "tcp://localhost:9092", []],
    ["a second Envoy", beside(envoy, { ...withAdmin(envoy, 9911), name: "b" }), "http://localhost:9911/ready", []],
    ["one that ebb makes native by its image, at its first port", asNative(pool), "tcp://localhost:6432", []],
    ["unless the kubelet waits for its startupProbe", asNative({ ...pool, ...probed }), undefined, []],
    [
      "before what the user names",
      { ...beside(off("--port=6432")), annotations: { "ebb.dev/ready": "http://db/" } },
      "tcp://localhost:6432,http://db/",
      [],
    ],
    [
      "not where there is none to name",
      { ...asNative(pool), annotations: { "ebb.dev/native": "true", "ebb.dev/sidecar": "none" } },
      undefined,
      [],
    ],
    [
      "not where that would describe all",
      { ...asNative(pool), annotations: { "ebb.dev/native": "true", "ebb.dev/quit": "http://localhost:1/" } },
      undefined,
      [],
    ],
    ["one on a socket is said", beside(off("--unix-socket=/s")), undefined, ["cloud-sql-proxy"]],
    [
      "unless the user says where",
      { ...beside(off("--unix-socket=/s")), annotations: { "ebb.dev/ready": "unix:/s/a" } },
      "unix:/s/a",
      [],
    ],
    ["at another address, too", native(off("--address=10.0.0.1")), undefined, ["cloud-sql-proxy"]],
    ["one whose arguments are elsewhere, too", beside({ ...csql, args: ["$(DB)"] }), undefined, ["cloud-sql-proxy"]],
    ["one that the user names, and that shows no port, too", said(agent), undefined, ["agent"]],
    ["not where the kubelet waits for it", said({ ...agent, ...probed }), undefined, []],
    ["one that the user names, at its port", said({ ...agent, ports: pool.ports }), "tcp://localhost:6432", []],
    ["not what ships logs", said({ ...agent, image: "fluent-bit", ports: pool.ports }), undefined, []],
    ["not one that need not be waited for", native({ name: "vault-agent" }), undefined, []],
  ])("%s", (_, given, ready, unwaited) => {
    expect(variable(changed(given), "EBB_READY")).toBe(ready);
    const messages = warnings(given).map(([, message]) => message);
    const names = messages.flatMap((one) => (one.startsWith(says) ? (one.slice(says.length).split('"')[0] ?? "") : []));
    expect(names).toEqual([...unwaited]);
  });

  test("ebb run is not told that it is native where it would wait for it in vain", () => {
    const nativeOf = (given: Given) => changed(given).metadata.annotations["ebb.dev/native"];
    expect(nativeOf(asNative(off()))).toBe("true,cloud-sql-proxy");
    expect(nativeOf(asNative(off("--unix-socket=/s")))).toBe("true");
  });
});

describe("a quit that cannot work is said:", () => {
  const off = { ...csql, args: ["p:r:i"] };
  const first = {
    name: "db",
    image: "gcr.io/cloudsql-docker/gce-proxy:1.33",
    command: ["/cloud_sql_proxy", "-instances=p:r:i=tcp:5432"],
  };
  const vault = { "vault.hashicorp.com/agent-inject": "true" };
  test.each<[string, Given, string | undefined, string]>([
    ["Cloud SQL without --quitquitquit", beside(off), "spec.containers[1].args", "--quitquitquit"],
    ["AlloyDB without it", beside(csql, { ...alloydb, args: [] }), "spec.containers[2].args", "--quitquitquit"],
    ["Cloud SQL's version 1", beside(first), "spec.containers[1].args", "version 2"],
    ["Vault Agent's", { spec: job, annotations: vault }, "metadata.annotations", "agent-enable-quit"],
    ["none where it is on", beside(csql), undefined, ""],
    ["none of a native one", native(off), undefined, ""],
    [
      "none of one that annotations make native",
      { spec: job, annotations: { ...vault, "ebb.dev/native": "vault-agent" } },
      undefined,
      "",
    ],
    ["none in a server", { containers: [app(), off] }, undefined, ""],
    [
      "none where the user ends it by a signal",
      { ...beside(first), annotations: { "ebb.dev/signal-process": "cloud_sql_proxy" } },
      undefined,
      "",
    ],
    [
      "none where the user says another quit",
      { ...beside(off), annotations: { "ebb.dev/quit": "http://localhost:1/quit" } },
      undefined,
      "",
    ],
    ["none where nothing is quit", { ...beside(off), annotations: { "ebb.dev/quit-on": "never" } }, undefined, ""],
  ])("%s", (_, given, field, message) => {
    const expected = field === undefined ? [] : [[field, expect.stringContaining(message)]];
    expect(warnings(given)).toEqual(expected as never);
  });
});

test.each<[Given, string]>([
  [{ containers: [app(), envoy] }, "--sidecar=envoy"],
  [{ containers: [app(), withAdmin(envoy, 9911)] }, "--sidecar=envoy:9911"],
  [{ containers: [app(), envoy], annotations: { "ebb.dev/sidecar": "envoy:9922" } }, "--sidecar=envoy:9922"],
])("the hook of a proxy names its kind, and its port if the pod shows that: %#", (given, flag) => {
  expect(changed(given).spec.containers[1].lifecycle.preStop.exec.command).toContain(flag);
});

import { describe, expect, test } from "bun:test";
import { foundByName, parseChoice } from "../../../../../src/shared/sidecars/core/choice.ts";
import { planSidecars } from "../../../../../src/shared/sidecars/core/plan.ts";
import { describeProbe } from "../../../../../src/shared/sidecars/core/probe.ts";
import type { SidecarName } from "../../../../../src/shared/sidecars/core/registry.ts";
import { type Given, inWords, type Pod, plan, type Table, urlsOf } from "./planned.ts";

const consulLifecycle = "consul.hashicorp.com/sidecar-proxy-lifecycle";

const vaultPort = "vault.hashicorp.com/agent-cache-listener-port";

describe("each sidecar is asked and told to quit at", () => {
  test.each<[string, SidecarName, string, (Pod & Given)?]>([
    ["Kuma's ports", "kuma", ":9902/ready or :9901/ready; POST :9901/quitquitquit"],
    [
      "Kuma's admin port, by its annotation",
      "kuma",
      ":9902/ready or :9999/ready; POST :9999/quitquitquit",
      { annotations: { "kuma.io/envoy-admin-port": "9999" } },
    ],
    [
      "Kuma's admin interface, by --admin",
      "kuma",
      "unix:/a.sock /ready; POST unix:/a.sock /quitquitquit",
      { admin: "unix:/a.sock" },
    ],
    ["Consul's ports", "consul", ":19000/ready; POST :19000/quitquitquit, else :20600/graceful_shutdown"],
    [
      "Consul's lifecycle, by its annotations",
      "consul",
      ":19000/ready; POST :19000/quitquitquit, else :20700/bye",
      {
        annotations: {
          [`${consulLifecycle}-graceful-port`]: "20700",
          [`${consulLifecycle}-graceful-shutdown-path`]: "/bye",
        },
      },
    ],
    [
      "Consul's admin interface, by --admin",
      "consul",
      ":19001/ready; POST :19001/quitquitquit",
      { admin: "http://localhost:19001" },
    ],
    ["Dapr's port", "dapr", ":3500/v1.0/healthz/outbound; POST :3500/v1.0/shutdown"],
    [
      "Dapr's port, by its variable",
      "dapr",
      ":3600/v1.0/healthz/outbound; POST :3600/v1.0/shutdown",
      { env: { DAPR_HTTP_PORT: "3600" } },
    ],
    ["Vault Agent's port", "vault-agent", "POST :8200/agent/v1/quit"],
    [
      "Vault Agent's port, by its annotation",
      "vault-agent",
      "POST :8300/agent/v1/quit",
      { annotations: { [vaultPort]: "8300" } },
    ],
    [
      "Cloud SQL's port",
      "cloud-sql-proxy",
      "tcp://localhost:9091 or tcp://localhost:5432 or tcp://localhost:3306 or tcp://localhost:1433; POST :9091/quitquitquit",
    ],
    [
      "Istio's status port, by its annotation",
      "istio",
      ":15021/healthz/ready; POST :16020/quitquitquit",
      { annotations: { "status.sidecar.istio.io/port": "16020" } },
    ],
    [
      "Istio's Envoy, where its status port is closed",
      "istio",
      ":15021/healthz/ready; POST :15000/quitquitquit",
      { annotations: { "status.sidecar.istio.io/port": "0" } },
    ],
    [
      "Linkerd's admin port, by its annotation",
      "linkerd",
      ":5191/ready; POST :5191/shutdown",
      { annotations: { "config.linkerd.io/admin-port": "5191" } },
    ],
    [
      "Dapr's socket, by its annotations",
      "dapr",
      "unix:/run/dapr/dapr-shop-http.socket /v1.0/healthz/outbound; POST unix:/run/dapr/dapr-shop-http.socket /v1.0/shutdown",
      {
        annotations: { "dapr.io/unix-domain-socket-path": "/run/dapr", "dapr.io/app-id": "shop" },
        env: { DAPR_HTTP_PORT: "3500" },
      },
    ],
    [
      "Dapr's socket, which has the pod's name where it has no id",
      "dapr",
      "unix:/run/dapr/dapr-job-1-http.socket /v1.0/healthz/outbound; POST unix:/run/dapr/dapr-job-1-http.socket /v1.0/shutdown",
      { annotations: { "dapr.io/unix-domain-socket-path": "/run/dapr" }, env: { HOSTNAME: "job-1" } },
    ],
    [
      "Cloud SQL's admin server, by --admin",
      "cloud-sql-proxy",
      "tcp://localhost:9092; POST :9092/quitquitquit",
      { admin: "http://localhost:9092" },
    ],
    [
      "Vault Agent's listener, by --admin",
      "vault-agent",
      "POST :8300/agent/v1/quit",
      { admin: "http://localhost:8300" },
    ],
    [
      "Cloud SQL's URLs, by its variable",
      "cloud-sql-proxy",
      "tcp://localhost:9091; tcp://localhost:9092; POST :9091/q; POST :9092/q",
      { env: { CSQL_PROXY_QUIT_URLS: "http://localhost:9091/q  http://localhost:9092/q" } },
    ],
  ])("%s", (_, name, expected, given = {}) => {
    expect(plan([name], given, given).map(inWords)).toEqual([`${name}; ${expected}`]);
  });

  test.each(["", "0", "65536", "x", "80/", "-1"])("its default where a port is %p", (port) => {
    const annotations = {
      [vaultPort]: port,
      "kuma.io/envoy-admin-port": port,
      [`${consulLifecycle}-graceful-port`]: port,
    };
    for (const name of ["kuma", "consul", "dapr", "vault-agent"] as const) {
      const pod = { annotations, env: { DAPR_HTTP_PORT: port } };
      expect(plan([name], pod).map(inWords)).toEqual(plan([name]).map(inWords));
    }
  });
});

describe("Dapr's token is a header of its quit", () => {
  const headers = (env: Table) => plan(["dapr"], { env })[0]?.quits[0]?.headers;

  test.each<[Table, readonly (readonly string[])[] | undefined]>([
    [{ DAPR_API_TOKEN: "s3cret" }, [["dapr-api-token", "s3cret"]]],
    [{ DAPR_HTTP_PORT: "3501", DAPR_API_TOKEN: "s3cret" }, [["dapr-api-token", "s3cret"]]],
    [{ DAPR_API_TOKEN: "" }, undefined],
    [{ DAPR_API_TOKEN: "two\r\nlines" }, undefined],
    [{}, undefined],
  ])("%j", (env, expected) => {
    expect(headers(env) as unknown).toEqual(expected);
  });

  test("and not of a quit that the user gives, nor in its description", () => {
    const env = { DAPR_API_TOKEN: "s3cret" };
    const [dapr] = plan(["dapr"], { env }, { quit: ["http://localhost:3500/v1.0/shutdown"] });
    expect(dapr?.quits.map(({ headers }) => headers)).toEqual([undefined]);
    expect(plan(["dapr"], { env }).map(inWords).join()).not.toContain("s3cret");
  });
});

describe("what leaves later by itself says when", () => {
  test.each<[SidecarName, Table, RegExp | undefined]>([
    ["consul", {}, undefined],
    ["dapr", {}, /^when its graceful shutdown is over/],
    ["linkerd", {}, /120s by default/],
    ["linkerd", { "config.linkerd.io/shutdown-grace-period": "45s" }, /\(45s\)$/],
    ["linkerd", { "config.linkerd.io/shutdown-grace-period": "soon" }, /120s by default/],
    ["istio", {}, undefined],
    ["envoy", {}, undefined],
    ["kuma", {}, undefined],
    ["vault-agent", {}, undefined],
    ["cloud-sql-proxy", {}, /--max-sigterm-delay/],
  ])("%s with %j", (name, annotations, expected) => {
    const [sidecar] = plan([name], { annotations });
    if (expected === undefined) expect(sidecar?.exitsWhen).toBeUndefined();
    else expect(sidecar?.exitsWhen).toMatch(expected);
  });

  test.each<[Table, RegExp]>([
    [{}, /^after its shutdown grace period \(30s\)$/],
    [{ [`${consulLifecycle}-shutdown-grace-period-seconds`]: "7" }, /^after its shutdown grace period \(7s\)$/],
  ])("Consul, where only its lifecycle server listens, with %j", (annotations, expected) => {
    expect(plan(["consul"], { annotations })[0]?.quits[0]?.fallback?.exitsWhen).toMatch(expected);
  });
});

test("Vault Agent is not told twice: the second quit makes it panic", () => {
  expect(plan(["vault-agent"])[0]?.quits[0]?.mustNotRepeat).toBe(true);
});

test.each<[SidecarName, string, boolean]>([
  ["linkerd", "http://localhost:4191/shutdown", true],
  ["consul", "http://localhost:20600/graceful_shutdown", true],
  ["consul", "http://localhost:19000/quitquitquit", false],
])("%s, told to quit by %s, goes later: %p", (name, quit, isLater) => {
  expect(plan([name], {}, { quit: [quit] })[0]?.exitsWhen !== undefined).toBe(isLater);
});

test.each(["bye", " ", "//"])("a path of Consul's that is %p makes no other address", (path) => {
  const annotations = { [`${consulLifecycle}-graceful-shutdown-path`]: path };
  expect(plan(["consul"], { annotations })[0]?.quits[0]?.fallback?.target.authority).toBe("localhost:20600");
});

describe("Vault Agent is waited for at its port where nothing was written before the app starts", () => {
  const prefix = "vault.hashicorp.com/";
  const late = { [`${prefix}agent-pre-populate`]: "false" };
  const quit = { [`${prefix}agent-enable-quit`]: "true" };
  const cache = { [`${prefix}agent-cache-enable`]: "true" };

  test.each<[Table, Given, readonly string[]]>([
    [{ ...late, ...quit }, {}, ["tcp://localhost:8200"]],
    [{ ...late, ...cache, [vaultPort]: "8300" }, {}, ["tcp://localhost:8300"]],
    [{ ...late, ...quit, [`${prefix}agent-configmap`]: "agent" }, {}, []],
    [{ ...late, ...quit }, { admin: "http://localhost:8300" }, ["tcp://localhost:8300"]],
    [{ ...late }, {}, []],
    [{ ...quit, ...cache }, {}, []],
    [{ ...quit, [`${prefix}agent-pre-populate`]: "true" }, {}, []],
  ])("%j", (annotations, given, ready) => {
    expect(plan(["vault-agent"], { annotations }, given)[0]?.ready.map(describeProbe)).toEqual([...ready]);
  });

  test("also at the port beside its name", () => {
    const pod = { env: {}, annotations: new Map(Object.entries({ ...late, ...quit })) };
    const [agent] = planSidecars(foundByName(pod, parseChoice("vault-agent:8300")?.named ?? []), urlsOf({}));
    expect(agent?.ready.map(describeProbe)).toEqual(["tcp://localhost:8300"]);
  });
});

import { describe, expect, test } from "bun:test";
import type { SidecarName } from "../../../src/core/sidecars/registry.ts";
import { type Given, inWords, type Pod, plan, type Table } from "./planned.ts";

const consulLifecycle = "consul.hashicorp.com/sidecar-proxy-lifecycle";

const vaultPort = "vault.hashicorp.com/agent-cache-listener-port";

describe("each sidecar is asked and told to quit at", () => {
  test.each<[string, SidecarName, Pod, Given, readonly string[]]>([
    [
      "Kuma's ports",
      "kuma",
      {},
      {},
      ["http://localhost:9902/ready or http://localhost:9901/ready", "POST http://localhost:9901/quitquitquit"],
    ],
    [
      "Kuma's admin port, by its annotation",
      "kuma",
      { annotations: { "kuma.io/envoy-admin-port": "9999" } },
      {},
      ["http://localhost:9902/ready or http://localhost:9999/ready", "POST http://localhost:9999/quitquitquit"],
    ],
    [
      "Kuma's admin interface, by --admin",
      "kuma",
      {},
      { admin: "unix:/a.sock" },
      ["unix:/a.sock /ready", "POST unix:/a.sock /quitquitquit"],
    ],
    [
      "Consul's ports",
      "consul",
      {},
      {},
      [
        "http://localhost:19000/ready",
        "POST http://localhost:19000/quitquitquit, else http://localhost:20600/graceful_shutdown",
      ],
    ],
    [
      "Consul's lifecycle, by its annotations",
      "consul",
      {
        annotations: {
          [`${consulLifecycle}-graceful-port`]: "20700",
          [`${consulLifecycle}-graceful-shutdown-path`]: "/bye",
        },
      },
      {},
      ["http://localhost:19000/ready", "POST http://localhost:19000/quitquitquit, else http://localhost:20700/bye"],
    ],
    [
      "Consul's admin interface, by --admin",
      "consul",
      {},
      { admin: "http://localhost:19001" },
      ["http://localhost:19001/ready", "POST http://localhost:19001/quitquitquit"],
    ],
    [
      "Dapr's port",
      "dapr",
      {},
      {},
      ["http://localhost:3500/v1.0/healthz/outbound", "POST http://localhost:3500/v1.0/shutdown"],
    ],
    [
      "Dapr's port, by its variable",
      "dapr",
      { env: { DAPR_HTTP_PORT: "3600" } },
      {},
      ["http://localhost:3600/v1.0/healthz/outbound", "POST http://localhost:3600/v1.0/shutdown"],
    ],
    ["Vault Agent's port", "vault-agent", {}, {}, ["POST http://localhost:8200/agent/v1/quit"]],
    [
      "Vault Agent's port, by its annotation",
      "vault-agent",
      { annotations: { [vaultPort]: "8300" } },
      {},
      ["POST http://localhost:8300/agent/v1/quit"],
    ],
    [
      "Cloud SQL's port",
      "cloud-sql-proxy",
      {},
      {},
      [
        "tcp://localhost:9091 or tcp://localhost:5432 or tcp://localhost:3306 or tcp://localhost:1433",
        "POST http://localhost:9091/quitquitquit",
      ],
    ],
    [
      "Istio's status port, by its annotation",
      "istio",
      { annotations: { "status.sidecar.istio.io/port": "16020" } },
      {},
      ["http://localhost:15021/healthz/ready", "POST http://localhost:16020/quitquitquit"],
    ],
    [
      "Istio's Envoy, where its status port is closed",
      "istio",
      { annotations: { "status.sidecar.istio.io/port": "0" } },
      {},
      ["http://localhost:15021/healthz/ready", "POST http://localhost:15000/quitquitquit"],
    ],
    [
      "Linkerd's admin port, by its annotation",
      "linkerd",
      { annotations: { "config.linkerd.io/admin-port": "5191" } },
      {},
      ["http://localhost:5191/ready", "POST http://localhost:5191/shutdown"],
    ],
    [
      "Dapr's socket, by its annotations",
      "dapr",
      {
        annotations: { "dapr.io/unix-domain-socket-path": "/run/dapr", "dapr.io/app-id": "shop" },
        env: { DAPR_HTTP_PORT: "3500" },
      },
      {},
      [
        "unix:/run/dapr/dapr-shop-http.socket /v1.0/healthz/outbound",
        "POST unix:/run/dapr/dapr-shop-http.socket /v1.0/shutdown",
      ],
    ],
    [
      "Dapr's socket, which has the pod's name where it has no id",
      "dapr",
      { annotations: { "dapr.io/unix-domain-socket-path": "/run/dapr" }, env: { HOSTNAME: "job-1" } },
      {},
      [
        "unix:/run/dapr/dapr-job-1-http.socket /v1.0/healthz/outbound",
        "POST unix:/run/dapr/dapr-job-1-http.socket /v1.0/shutdown",
      ],
    ],
    [
      "Cloud SQL's admin server, by --admin",
      "cloud-sql-proxy",
      {},
      { admin: "http://localhost:9092" },
      ["tcp://localhost:9092", "POST http://localhost:9092/quitquitquit"],
    ],
    [
      "Vault Agent's listener, by --admin",
      "vault-agent",
      {},
      { admin: "http://localhost:8300" },
      ["POST http://localhost:8300/agent/v1/quit"],
    ],
    [
      "Cloud SQL's URLs, by its variable",
      "cloud-sql-proxy",
      { env: { CSQL_PROXY_QUIT_URLS: "http://localhost:9091/q  http://localhost:9092/q" } },
      {},
      ["tcp://localhost:9091", "tcp://localhost:9092", "POST http://localhost:9091/q", "POST http://localhost:9092/q"],
    ],
  ])("%s", (_, name, pod, given, expected) => {
    expect(plan([name], pod, given).map(inWords)).toEqual([[name, ...expected]]);
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
    expect(plan(["dapr"], { env }).flatMap(inWords).join()).not.toContain("s3cret");
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

import { describe, expect, test } from "bun:test";
import {
  type ManifestContainer,
  quitsThatAreOff,
  type ShownSidecar,
  shownIn,
} from "../../../../../../src/cluster/inject/core/facts/shown-sidecars.ts";

const csql = "gcr.io/cloud-sql-connectors/cloud-sql-proxy:2.14.1";

test.each<[string, readonly string[], number | undefined]>([
  [
    "block style",
    [
      "--config-yaml",
      "admin:\n  access_log_path: /dev/null\n  address:\n    socket_address:\n      port_value: 9911\n",
    ],
    9911,
  ],
  [
    "behind other keys",
    [
      "-c",
      "/e.yaml",
      "--config-yaml",
      "node: {id: a}\nadmin: {address: {socket_address: {address: '::1', port_value: 7}}}",
    ],
    7,
  ],
  ["JSON", ['--config-yaml={"admin":{"address":{"socket_address":{"address":"0.0.0.0","port_value":9911}}}}'], 9911],
  ["a shell's", ["sh", "-c", "envoy --config-yaml 'admin: {address: {socket_address: {port_value: 9}}}' -l warn"], 9],
  [
    "a socket, and the port of a listener behind it",
    [
      "--config-yaml",
      "admin: {address: {pipe: {path: /a}}}\nstatic_resources: {listeners: [{address: {socket_address: {port_value: 80}}}]}",
    ],
    undefined,
  ],
  [
    "no address, and the port of a listener behind it",
    ["--config-yaml", "admin: {}\nstatic_resources: {listeners: [{address: {socket_address: {port_value: 80}}}]}"],
    undefined,
  ],
  ["another key that ends so", ["--config-yaml", "x_admin: {address: {socket_address: {port_value: 80}}}"], undefined],
  ["no such port", ["--config-yaml", "admin: {address: {socket_address: {port_value: 70000}}}"], undefined],
  ["a file", ["-c", "/etc/envoy/envoy.yaml"], undefined],
])("an Envoy's admin port in its arguments: %s", (_, args, port) => {
  const shown = shownIn({ name: "edge", image: "envoyproxy/envoy:v1.38.0", args });
  expect(shown).toEqual({ name: "envoy", container: "edge", ...(port !== undefined && { port }) });
});

describe("what a container's arguments and variables show", () => {
  const off = expect.stringContaining("only with --quitquitquit");
  test.each<[string, Omit<ManifestContainer, "name">, object]>([
    ["a quit that is on", { args: ["--quitquitquit", "p:r:i"] }, {}],
    ["a quit that is off", { args: ["p:r:i"] }, { problem: off }],
    ["a quit that is switched off", { args: ["--quitquitquit=false"] }, { problem: off }],
    ["an admin port", { args: ["--quitquitquit", "--admin-port", "9092"] }, { port: 9092 }],
    ["an admin port after =", { args: ["--admin-port=9092", "--quitquitquit"] }, { port: 9092 }],
    ["the last of two ports", { args: ["--admin-port=1", "--admin-port=2", "--quitquitquit"] }, { port: 2 }],
    [
      "a shell's words",
      { command: ["sh", "-c", "exec /cloud-sql-proxy --quitquitquit --admin-port 9092"] },
      { port: 9092 },
    ],
    [
      "variables",
      {
        env: [
          { name: "CSQL_PROXY_QUITQUITQUIT", value: "true" },
          { name: "CSQL_PROXY_ADMIN_PORT", value: "9092" },
        ],
      },
      { port: 9092 },
    ],
    [
      "a flag that wins over a variable",
      { args: ["--quitquitquit"], env: [{ name: "CSQL_PROXY_QUITQUITQUIT", value: "false" }] },
      {},
    ],
    ["a value that is elsewhere", { env: [{ name: "CSQL_PROXY_QUITQUITQUIT", valueFrom: {} }] }, {}],
    ["a file, which may say anything", { args: ["--config-file=/etc/proxy.toml"] }, { listeners: [] }],
    [
      "a file, beside a port",
      { args: ["--config-file=/etc/proxy.toml"], ...{ ports: [{ containerPort: 6432 }] } },
      { listeners: [6432] },
    ],
    ["a delay after SIGTERM", { args: ["--quitquitquit", "--min-sigterm-delay=20s"] }, { hasOwnDelay: true }],
    [
      "such a delay in a variable",
      { args: ["--quitquitquit"], env: [{ name: "CSQL_PROXY_MIN_SIGTERM_DELAY", valueFrom: {} }] },
      { hasOwnDelay: true },
    ],
    ["such a delay that is none", { args: ["--quitquitquit", "--min-sigterm-delay", "0s"] }, {}],
    ["no arguments", { args: null, command: null, env: null }, { problem: off }],
    ["a port that is none", { args: ["--quitquitquit", "--admin-port", "$(PORT)"] }, { listeners: [] }],
    [
      "a port in a variable",
      { args: ["--quitquitquit", "--admin-port", "$(PORT)"], env: [{ name: "PORT", value: "9092" }] },
      { port: 9092 },
    ],
  ])("%s", (_, container, shown) => {
    expect(shownIn({ name: "db", image: csql, ...container })).toEqual({
      name: "cloud-sql-proxy",
      container: "db",
      ...shown,
    } as never);
  });

  test.each<[string, ManifestContainer, string | undefined, object]>([
    ["AlloyDB", { name: "x", image: "r/alloydb-auth-proxy:1" }, "alloydb-auth-proxy", { problem: off }],
    [
      "AlloyDB's port",
      { name: "x", image: "r/alloydb-auth-proxy:1", args: ["--quitquitquit", "--admin-port=7"] },
      "alloydb-auth-proxy",
      { port: 7 },
    ],
    [
      "Cloud SQL's version 1",
      { name: "x", image: "gcr.io/cloudsql-docker/gce-proxy:1.33", command: ["/cloud_sql_proxy", "-instances=a"] },
      "cloud-sql-proxy",
      { problem: expect.stringContaining("version 1"), listeners: [] },
    ],
    ["an Envoy", { name: "envoy", image: "envoyproxy/envoy:v1.31" }, "envoy", {}],
    ["an app", { name: "app", image: "r/app" }, undefined, {}],
  ])("%s", (_, container, name, shown) => {
    const { container: __, ...rest } = shownIn(container) ?? { container: "" };
    expect(rest).toEqual((name === undefined ? {} : { name, ...shown }) as never);
  });
});

test.each<[Record<string, string>, RegExp | undefined]>([
  [{ "vault.hashicorp.com/agent-inject": "true" }, /agent-enable-quit: "true"/],
  [{ "vault.hashicorp.com/agent-inject": "true", "vault.hashicorp.com/agent-enable-quit": "true" }, undefined],
  [{ "vault.hashicorp.com/agent-inject": "true", "vault.hashicorp.com/agent-pre-populate-only": "true" }, undefined],
  [{ "vault.hashicorp.com/agent-inject": "false" }, undefined],
  [{ "config.linkerd.io/proxy-admin-shutdown": "disabled" }, /^linkerd-proxy accepts no shutdown request: set /],
  [{ "config.linkerd.io/proxy-admin-shutdown": "enabled" }, undefined],
  [{ "linkerd.io/inject": "enabled" }, /request by default: set .*proxy-admin-shutdown: enabled \(/],
  [{ "linkerd.io/inject": "ingress" }, /request by default/],
  [{ "linkerd.io/proxy-version": "edge-25.1" }, /proxy-admin-shutdown: enabled/],
  [{ "linkerd.io/inject": "disabled" }, undefined],
  [{ "linkerd.io/inject": "enabled", "config.linkerd.io/proxy-enable-native-sidecar": "true" }, undefined],
  [{ "linkerd.io/inject": "enabled", "config.linkerd.io/proxy-admin-shutdown": "enabled" }, undefined],
  [{}, undefined],
])("%j", (annotations, problem) => {
  const [first] = quitsThatAreOff(new Map(Object.entries(annotations)), []);
  if (problem === undefined) expect(first).toBeUndefined();
  else expect(first).toMatch(problem);
});

test.each<[string, object, number | undefined, number]>([
  ["ordinary", {}, 1, 1],
  ["native", {}, undefined, 0],
  ["with the endpoint", { env: [{ name: "LINKERD2_PROXY_SHUTDOWN_ENDPOINT_ENABLED", value: "true" }] }, 1, 0],
])("a Linkerd proxy that the manifest shows, %s", (_, more, at, count) => {
  const shown = shownIn({ name: "linkerd-proxy", ...more });
  const annotations = new Map([["linkerd.io/proxy-version", "2.19"]]);
  expect(quitsThatAreOff(annotations, shown === undefined ? [] : [{ ...shown, at }])).toHaveLength(count);
});

test.each<[string, object, Record<string, string>, RegExp | undefined]>([
  ["linkerd-proxy", {}, {}, /set LINKERD2_PROXY_SHUTDOWN_ENDPOINT_ENABLED=true in its container/],
  ["linkerd-proxy", { env: [{ name: "LINKERD2_PROXY_SHUTDOWN_ENDPOINT_ENABLED", value: "true" }] }, {}, undefined],
  ["linkerd-proxy", {}, { "config.linkerd.io/proxy-admin-shutdown": "enabled" }, undefined],
  ["vault-agent", { args: ["agent", "-config=/vault/config.hcl"] }, {}, /enable_quit = true/],
  ["vault-agent", { args: ["agent", "-exit-after-auth"] }, {}, undefined],
  ["vault-agent", { command: ["sh", "-c", "vault agent --exit-after-auth=true"] }, {}, undefined],
  ["vault-agent", {}, { "vault.hashicorp.com/agent-enable-quit": "true" }, undefined],
])("one that is written by hand, without its injector's annotation: %s %j %j", (name, more, annotations, problem) => {
  const said = (at: number | undefined) =>
    quitsThatAreOff(new Map(Object.entries(annotations)), [{ ...(shownIn({ name, ...more }) as ShownSidecar), at }]);
  expect(said(1)).toEqual(problem === undefined ? [] : [expect.stringMatching(problem)]);
  expect(said(undefined)).toEqual([]); // a native one
});

describe("where a proxy of Google's listens", () => {
  const from = (name: string, value: string | undefined) => ({
    env: [value === undefined ? { name, valueFrom: {} } : { name, value }],
  });
  const shell = { command: ["sh", "-c", "exec /cloud-sql-proxy 'a:b:c?port=7000' --structured-logs"] };

  test.each<[string, readonly string[], object, readonly number[] | undefined]>([
    ["its usual ports", ["a:b:c"], {}, undefined],
    ["no instance at all", [], {}, undefined],
    ["a port for all", ["--port=6432", "a:b:c"], {}, [6432]],
    ["by its letter", ["-p", "6432", "example.com:a:b:c"], {}, [6432]],
    ["one's own port", ["--port=6432", "a:b:c?port=7000&private-ip=true"], {}, [7000]],
    ["that of a second one", ["a:b:c", "a:b:d?port=7000"], {}, [7000]],
    ["a shell's", [], shell, [7000]],
    ["a variable's", ["a:b:c"], from("CSQL_PROXY_PORT", "6432"), [6432]],
    ["an instance in a variable", [], from("CSQL_PROXY_INSTANCE_CONNECTION_NAME_0", "a:b:c?port=7000"), [7000]],
    ["an instance by reference", ["$(DB)"], from("DB", "a:b:c?port=7000"), [7000]],
    ["an instance elsewhere, with a port for all", ["--port=6432", "$(DB)"], from("DB", undefined), [6432]],
    ["an instance elsewhere", ["$(DB)"], from("DB", undefined), []],
    ["a port elsewhere", ["a:b:c"], from("CSQL_PROXY_PORT", undefined), []],
    ["a socket for all", ["--unix-socket", "/s", "a:b:c"], {}, []],
    ["one's own socket", ["a:b:c?unix-socket-path=/s/a"], {}, []],
    ["a socket, but one's own port", ["-u=/s", "a:b:c?port=7000"], {}, [7000]],
    ["a file system", ["--fuse=/f"], {}, []],
    ["all addresses", ["--address", "0.0.0.0", "a:b:c"], {}, undefined],
    ["another address", ["--address=10.0.0.1", "a:b:c"], {}, []],
    ["one's own address", ["a:b:c?address=10.0.0.1&port=7000"], {}, []],
  ])("%s", (_, args, more, listeners) => {
    expect(shownIn({ name: "db", image: csql, args, ...more })?.listeners).toEqual(listeners as never);
  });

  test.each([
    ["-instances=a:b:c=tcp:3306,a:b:d=tcp:0.0.0.0:3307", [3306, 3307]],
    ["-instances=a:b:c=tcp:10.0.0.1:3306", []],
    ["-dir=/s -instances=a:b:c", []],
  ])("version 1: %s", (args, listeners) => {
    expect(shownIn({ name: "db", image: "gce-proxy:1.33", args: args.split(" ") })?.listeners).toEqual(listeners);
  });

  test("AlloyDB's", () => {
    const args = ["projects/p/locations/l/clusters/c/instances/i?port=6000"];
    expect(shownIn({ name: "db", image: "alloydb-auth-proxy", args })?.listeners).toEqual([6000]);
  });
});

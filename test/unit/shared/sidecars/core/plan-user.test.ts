import { describe, expect, test } from "bun:test";
import { onSocket } from "../../../../../src/shared/sidecars/core/plan.ts";
import type { Probe } from "../../../../../src/shared/sidecars/core/probe.ts";
import { describeQuit } from "../../../../../src/shared/sidecars/core/quit.ts";
import type { SidecarName } from "../../../../../src/shared/sidecars/core/registry.ts";
import type { Sidecar } from "../../../../../src/shared/sidecars/core/sidecar.ts";
import { type Given, inWords, type Pod, plan } from "./planned.ts";

describe("what the user gives is meant for the mesh's proxy, where there is one", () => {
  const dapr = "dapr; :3500/v1.0/healthz/outbound; POST :3500/v1.0/shutdown";
  const cloudSql = "cloud-sql-proxy; tcp://localhost:9091; POST :9091/q";
  const env = { CSQL_PROXY_QUIT_URLS: "http://localhost:9091/q" };

  test.each<[string, readonly SidecarName[], Pod & Given, readonly string[]]>([
    ["a quit", ["istio", "dapr"], { quit: ["http://x/q"] }, ["istio; :15021/healthz/ready; POST http://x/q", dapr]],
    [
      "an admin interface",
      ["envoy", "dapr"],
      { admin: "http://h:1" },
      ["envoy; http://h:1/ready; POST http://h:1/quitquitquit", dapr],
    ],
    [
      "a process",
      ["istio", "dapr"],
      { signalProcess: ["pilot-agent"] },
      ["istio; :15021/healthz/ready; signal pilot-agent", dapr],
    ],
    [
      "a process and a quit",
      ["istio"],
      { signalProcess: ["pilot-agent"], quit: ["http://x/q"] },
      ["istio; :15021/healthz/ready; POST http://x/q; signal pilot-agent"],
    ],
    ["a process where nothing was found", [], { signalProcess: ["a", "/b"] }, ["custom; signal a; signal /b"]],
    [
      "a quit where there is no proxy",
      ["dapr"],
      { quit: ["http://x/q"] },
      ["dapr; :3500/v1.0/healthz/outbound; POST http://x/q"],
    ],
    [
      "a process beside two proxies, whose own quits it replaces",
      ["istio", "linkerd"],
      { signalProcess: ["x"] },
      ["istio; :15021/healthz/ready", "linkerd; :4191/ready", "custom; signal x"],
    ],
    [
      "a process as last resort, beside the sidecar's own quit",
      ["istio", "dapr"],
      { signalProcess: ["+pilot-agent"] },
      ["istio; :15021/healthz/ready; POST :15020/quitquitquit; at last signal pilot-agent", dapr],
    ],
    ["a process as last resort, where nothing was found", [], { signalProcess: ["+x"] }, ["custom; at last signal x"]],
    [
      "a readiness path",
      ["istio"],
      { readyPath: "/server_info" },
      ["istio; :15000/server_info; POST :15020/quitquitquit"],
    ],
    [
      "a readiness path and an admin interface",
      ["istio", "dapr"],
      { readyPath: "/server_info", admin: "http://h:1" },
      ["istio; http://h:1/server_info; POST :15020/quitquitquit", dapr],
    ],
    ["one more quit, asked once", ["cloud-sql-proxy"], { quit: ["+http://localhost:9091/q"], env }, [cloudSql]],
    [
      "one more quit, that is nobody's own",
      ["cloud-sql-proxy"],
      { quit: ["+http://x/q"], env },
      [cloudSql, "custom; POST http://x/q"],
    ],
  ])("%s", (_, names, given, expected) => {
    expect(plan(names, given, given).map(inWords)).toEqual([...expected]);
  });

  test("a native one is neither told to quit nor signalled", () => {
    const annotations = { "dapr.io/enable-native-sidecar": "true" };
    const given = { quit: ["http://x/q"], signalProcess: ["daprd", "+daprd"] };
    expect(plan(["dapr"], { annotations }, given).map(inWords)).toEqual(["dapr, native; :3500/v1.0/healthz/outbound"]);
  });
});

describe("Kuma's admin interface is on its socket, once that is there", () => {
  const socket = "/tmp/kuma-dp-1/kuma-envoy-admin.sock";
  const moved = (given: Given) => {
    const [kuma] = plan(["kuma"], {}, given);
    return kuma?.socket === undefined ? undefined : onSocket(kuma, socket);
  };

  test("for the drain and the quit; readiness keeps its port", () => {
    const kuma = moved({}) as Sidecar;
    expect(kuma.envoy?.admin.address).toEqual({ kind: "unix", path: socket });
    expect(inWords(kuma)).toBe(`kuma; :9902/ready or :9901/ready; POST unix:${socket} /quitquitquit`);
  });

  test("but a quit that the user gives stays", () => {
    const kuma = moved({ quit: ["http://localhost:9901/quitquitquit"] }) as Sidecar;
    expect(kuma.quits.map(describeQuit)).toEqual(["POST http://localhost:9901/quitquitquit"]);
    expect(kuma.envoy?.admin.address).toEqual({ kind: "unix", path: socket });
  });

  test("but --admin says where it is", () => {
    expect(moved({ admin: "http://localhost:9901" })).toBeUndefined();
  });
});

test("--header goes with each readiness request, and with those to Envoy's admin interface", () => {
  const header = [["x-token", "a"]] as const;
  const headersOf = (probe: Probe): unknown => (probe.kind === "any" ? probe.probes.map(headersOf) : probe);
  const [kuma] = plan(["kuma"], {}, { header });
  expect(kuma?.ready.map(headersOf)).toMatchObject([[{ headers: header }, { headers: header }]]);
  expect(kuma?.envoy).toMatchObject({ headers: header });
  const [proxy] = plan(["cloud-sql-proxy"], {}, { header });
  expect(JSON.stringify(proxy?.ready)).not.toContain("x-token");
  expect(JSON.stringify(plan(["kuma"]))).not.toContain("headers");
});

import { expect, test } from "bun:test";
import type { Pod } from "../../../../../src/cluster/api/core/objects.ts";
import { viewOf } from "../../../../../src/cluster/reaper/core/pod-view.ts";
import { verdictOf } from "../../../../../src/cluster/reaper/core/verdict.ts";
import { ended, known, podOf, policy, running } from "./stuck-pods.ts";

const token = { name: "DAPR_API_TOKEN", valueFrom: { secretKeyRef: { name: "dapr", key: "token" } } };

/** What a view holds, as text. */
const textOf = (pod: Pod): string => Bun.inspect(viewOf(pod), { depth: 9 });

test.each([
  [
    "daprd, its port and token",
    { daprd: running },
    {},
    [{ name: "DAPR_HTTP_PORT", value: "3501" }, token],
    [3501, "DAPR_API_TOKEN"],
  ],
  [
    "the operator's cloud-sql-proxy",
    { "csql-x": { state: running, spec: { image: "cloud-sql-proxy:2" } } },
    {},
    [{ name: "CSQL_PROXY_QUIT_URLS", value: "http://localhost:9092/quitquitquit" }],
    [9092],
  ],
  ["Istio on another port", { "istio-proxy": running }, { "status.sidecar.istio.io/port": "15999" }, [], [15999]],
  ["Kuma's admin port", { "kuma-sidecar": running }, { "kuma.io/envoy-admin-port": "9999" }, [], [9999]],
  [
    "Consul's grace",
    { "consul-dataplane": running },
    { "consul.hashicorp.com/sidecar-proxy-lifecycle-shutdown-grace-period-seconds": "77" },
    [],
    [107_000],
  ],
  ["Vault's port", { "vault-agent": running }, { "vault.hashicorp.com/agent-cache-listener-port": "8299" }, [], [8299]],
  [
    "a command of its own",
    { x: running },
    { "ebb.dev/sidecars": "x", "ebb.dev/reap-exec.x": '["/stop"]' },
    [],
    ["/stop"],
  ],
])("a view has what ends %s, and no other variables or annotations", (_, sidecar, annotations, env, ends) => {
  const app = { state: ended(0), spec: { env: [...env, { name: "PASSWORD", value: "geheim" }] } };
  const pod = podOf({ containers: { app, ...sidecar }, annotations: { ...annotations, other: "geheim" } });
  const verdict = verdictOf(viewOf(pod), policy, known);
  expect(verdict.kind).toBe("end");
  for (const each of ends) expect(JSON.stringify(verdict)).toContain(String(each));
  expect(textOf(pod)).not.toContain("geheim");
});

test("the view of a sidecar says whether ebb is mounted in it", () => {
  const mounting = (mountPath: string) => ({ state: running, spec: { volumeMounts: [{ name: "e", mountPath }] } });
  const kindsOf = (mountPath: string) => {
    const pod = podOf({ containers: { app: ended(0), envoy: mounting(mountPath) } });
    const verdict = verdictOf(viewOf(pod), policy, known);
    return verdict.kind === "end" && verdict.containers[0]?.methods.map(({ kind }) => kind);
  };
  expect([kindsOf("/ebb.dev"), kindsOf("/x")]).toEqual([
    ["exec", "port-forward", "ephemeral"],
    ["port-forward", "ephemeral"],
  ]);
});

test("a pod that starts ebb by hand has ebb, whatever its annotation asks for", () => {
  const app = { state: running, spec: { command: ["/ebb.dev/ebb", "run", "--", "/app"] } };
  const asks = { "ebb.dev/inject": "true" };
  expect(viewOf(podOf({ containers: { app }, annotations: asks })).ebb).toEqual({ kind: "present", image: undefined });
  expect(viewOf(podOf({ containers: { app } })).ebb).toEqual({ kind: "present", image: undefined });
  const bare = podOf({ containers: { app: running }, annotations: asks });
  expect(viewOf(bare).ebb).toEqual({ kind: "absent", isAsked: true });
});

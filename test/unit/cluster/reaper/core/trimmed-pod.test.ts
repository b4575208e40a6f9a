import { expect, test } from "bun:test";
import { trimPod } from "../../../../../src/cluster/reaper/core/trimmed-pod.ts";
import { verdictOf } from "../../../../../src/cluster/reaper/core/verdict.ts";
import { ended, known, podOf, policy, running } from "./stuck-pods.ts";

const token = { name: "DAPR_API_TOKEN", valueFrom: { secretKeyRef: { name: "dapr", key: "token" } } };

test.each([
  ["daprd, its port and token", { daprd: running }, {}, [{ name: "DAPR_HTTP_PORT", value: "3501" }, token]],
  [
    "the operator's cloud-sql-proxy",
    { "csql-x": { state: running, spec: { image: "cloud-sql-proxy:2" } } },
    {},
    [{ name: "CSQL_PROXY_QUIT_URLS", value: "http://localhost:9092/quitquitquit" }],
  ],
  ["Istio on another port", { "istio-proxy": running }, { "status.sidecar.istio.io/port": "15999" }, []],
  ["Kuma's admin port", { "kuma-sidecar": running }, { "kuma.io/envoy-admin-port": "9999" }, []],
  [
    "Consul's grace",
    { "consul-dataplane": running },
    {
      "consul.hashicorp.com/sidecar-proxy-lifecycle-shutdown-grace-period-seconds": "77",
    },
    [],
  ],
  ["Vault's port", { "vault-agent": running }, { "vault.hashicorp.com/agent-cache-listener-port": "8299" }, []],
  ["a command of its own", { x: running }, { "ebb.dev/sidecars": "x", "ebb.dev/reap-exec.x": '["/stop"]' }, []],
])("what a watch keeps has what ends %s", (_, sidecar, annotations, env) => {
  const app = { state: ended(0), spec: { env: [...env, { name: "PASSWORD", value: "geheim" }] } };
  const pod = podOf({ containers: { app, ...sidecar }, annotations: { ...annotations, other: "x" } });
  const verdict = verdictOf(trimPod(pod), policy, known);
  expect(verdict.kind).toBe("end");
  expect(verdict).toEqual(verdictOf(pod, policy, known));
  expect(JSON.stringify(trimPod(pod))).not.toContain("geheim");
});

test("ebb's own folder in a sidecar is kept, other mounts are not", () => {
  const state = { state: running, spec: { volumeMounts: [{ name: "e", mountPath: "/ebb.dev" }, { mountPath: "/x" }] } };
  const pod = podOf({ containers: { app: ended(0), envoy: state } });
  const verdict = verdictOf(trimPod(pod), policy, known);
  expect(verdict).toEqual(verdictOf(pod, policy, known));
  expect(JSON.stringify(verdict)).toContain('"kind":"exec"');
  expect(JSON.stringify(trimPod(pod))).not.toContain('"/x"');
});

test("whatever stands there, it does not throw", () => {
  for (const odd of [{}, { metadata: 1, spec: [], status: "x" }, { spec: { containers: [1, null] } }]) {
    expect(verdictOf(trimPod(odd), policy, known)).toEqual(verdictOf(odd, policy, known));
  }
});

import { expect, test } from "bun:test";
import { execContainers } from "../../../src/core/kubectl/exec-containers.ts";
import { farSidecarsOf, throughTunnel } from "../../../src/core/kubectl/forwarded.ts";
import { summaryOf } from "../../../src/core/kubectl/pod-status.ts";
import { viewOf } from "../../../src/core/reap/pod-view.ts";
import { ended, podOf, running } from "../reap/stuck-pods.ts";

const mounted = { volumeMounts: [{ name: "ebb", mountPath: "/ebb.dev" }] };
const viewed = (...given: Parameters<typeof podOf>) => viewOf(podOf(...given));
const portsOf = (...given: Parameters<typeof podOf>) => farSidecarsOf(viewed(...given)).map(({ ports }) => ports);

test("sidecars that run are asked at their ports, or where the pod's annotations have them", () => {
  expect(portsOf({ containers: { app: running, "istio-proxy": running } })).toEqual([[15000, 15021]]);
  const annotations = { "config.linkerd.io/admin-port": "4999" };
  expect(portsOf({ containers: { app: running, "linkerd-proxy": running }, annotations })).toEqual([[4999]]);
  expect(portsOf({ containers: { app: running, "istio-proxy": ended(0) } })).toEqual([]);
});

test("native ones too, which are told to quit by nobody; none on the node's network", () => {
  const proxy = { "istio-proxy": { state: running, spec: { restartPolicy: "Always" } } };
  const [far] = farSidecarsOf(viewed({ containers: { app: running }, initContainers: proxy }));
  expect(far?.sidecar).toMatchObject({ name: "istio", isNative: true });
  expect(portsOf({ containers: { app: running, envoy: running }, spec: { hostNetwork: true } })).toEqual([]);
});

test("each request goes through the tunnel, and keeps its Host and path", () => {
  const [far] = farSidecarsOf(viewed({ containers: { app: running, "istio-proxy": running } }));
  const { envoy, ready, quits } = throughTunnel((far as never as { sidecar: never }).sidecar, (port) => ({
    kind: "unix",
    path: `/tunnel/${port}`,
  }));
  expect(envoy).toMatchObject({
    admin: { address: { kind: "unix", path: "/tunnel/15000" }, authority: "localhost:15000" },
    isElsewhere: true,
  });
  expect(ready).toMatchObject([{ target: { address: { path: "/tunnel/15021" }, path: "/healthz/ready" } }]);
  expect(quits).toEqual([]); // the reaper's methods quit
  const [kuma] = farSidecarsOf(viewed({ containers: { app: running, "kuma-sidecar": running } }));
  expect(kuma?.sidecar.socket).toBeDefined();
  expect(
    throughTunnel((kuma as never as { sidecar: never }).sidecar, () => ({ kind: "unix", path: "/x" })).socket,
  ).toBeUndefined();
});

test("ebb is looked for in the app, by ebb.dev/status, kubectl's annotation, or the roles; then where it is mounted", () => {
  const containers = { app: running, other: running, envoy: { state: running, spec: mounted } };
  expect(execContainers(viewed({ containers }))).toEqual(["app", "envoy"]);
  const chosen = { "kubectl.kubernetes.io/default-container": "other" };
  expect(execContainers(viewed({ containers, annotations: chosen }))).toEqual(["other", "envoy"]);
  const status = { ...chosen, "ebb.dev/status": JSON.stringify({ containers: { app: { command: "wrapped" } } }) };
  expect(execContainers(viewed({ containers, annotations: status }))).toEqual(["app", "envoy"]);
  expect(execContainers(viewed({ containers: { ...containers, app: ended(0) } }))).toEqual(["other", "envoy"].slice(1));
});

test("each container is what the reaper takes it for", () => {
  const pod = podOf({
    containers: { app: ended(3), "istio-proxy": running, daprd: running, odd: running },
    initContainers: { setup: ended(0), "linkerd-proxy": { state: running, spec: { restartPolicy: "Always" } } },
    ephemeralContainers: { look: running },
    annotations: { "ebb.dev/sidecars": "odd" },
  });
  const { containers } = summaryOf(pod);
  expect(containers.map(({ name, role, sidecar }) => [name, role, sidecar])).toEqual([
    ["app", "app", null],
    ["daprd", "helper", "dapr"],
    ["istio-proxy", "sidecar", "istio"],
    ["odd", "helper", null],
    ["linkerd-proxy", "native", "linkerd"],
    ["setup", "init", null],
    ["look", "ephemeral", null],
  ]);
  expect(containers[0]).toMatchObject({ state: "terminated", exitCode: 3, reason: "Error" });
});

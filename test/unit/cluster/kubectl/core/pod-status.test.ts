import { expect, test } from "bun:test";
import { ebbIn } from "../../../../../src/cluster/kubectl/core/ebb-in.ts";
import { summaryOf } from "../../../../../src/cluster/kubectl/core/pod-status.ts";
import { viewOf } from "../../../../../src/cluster/reaper/core/pod-view.ts";
import { ended, podOf, running } from "../../reaper/core/stuck-pods.ts";

const mounted = { volumeMounts: [{ name: "ebb", mountPath: "/ebb.dev" }] };
const starting = { command: ["/shared/ebb", "run", "--", "/app"] };

test("the ebb in a pod is the first that a running container starts with, or has mounted", () => {
  const app = { state: running, spec: starting };
  const envoy = { state: running, spec: mounted };
  expect(ebbIn(podOf({ containers: { app, envoy } }))).toEqual({ container: "app", path: "/shared/ebb" });
  expect(ebbIn(podOf({ containers: { envoy, app } }))).toEqual({ container: "envoy", path: "/ebb.dev/ebb" });
  const over = { state: ended(0), spec: starting };
  expect(ebbIn(podOf({ containers: { app: over, envoy } }))).toEqual({ container: "envoy", path: "/ebb.dev/ebb" });
  expect(ebbIn(podOf({ containers: { app: over, envoy: running } }))).toBeUndefined();
});

test("each container is what the reaper takes it for", () => {
  const pod = podOf({
    containers: { app: ended(3), "istio-proxy": running, daprd: running, odd: running },
    initContainers: { setup: ended(0), "linkerd-proxy": { state: running, spec: { restartPolicy: "Always" } } },
    ephemeralContainers: { look: running },
    annotations: { "ebb.dev/sidecars": "odd" },
  });
  const { containers } = summaryOf(viewOf(pod));
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

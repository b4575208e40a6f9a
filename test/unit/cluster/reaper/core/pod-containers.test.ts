import { expect, test } from "bun:test";
import { restartAfter, sortContainers } from "../../../../../src/cluster/reaper/core/pod-containers.ts";
import { viewOf } from "../../../../../src/cluster/reaper/core/pod-view.ts";
import { podOf, running } from "./stuck-pods.ts";

test("an app whose name begins as the proxies of an operator do is none of them", () => {
  const state = { state: running, spec: { image: "postgres:16" } };
  const { apps, sidecars } = sortContainers(
    viewOf(podOf({ containers: { "csql-export": state, "cloud-sql-proxy": running } })),
  );
  expect([apps, sidecars].map((each) => each.map(({ name }) => name))).toEqual([["csql-export"], ["cloud-sql-proxy"]]);
});

const restart = (operator: string, values: readonly number[], action = "Restart") => ({
  action,
  exitCodes: { operator, values },
});

/** kubernetes pkg/api/v1/pod/util.go, ContainerShouldRestart. */
test.each<[string | undefined, Record<string, unknown>, number, string | undefined]>([
  ["Always", {}, 0, "restartPolicy Always"],
  ["Always", {}, 1, "restartPolicy Always"],
  ["OnFailure", {}, 0, undefined],
  ["OnFailure", {}, 1, "restartPolicy OnFailure, exit code 1"],
  ["Never", {}, 0, undefined],
  ["Never", {}, 137, undefined],
  [undefined, {}, 0, "restartPolicy Always"],
  ["Sometimes", {}, 0, "restartPolicy Sometimes"],
  ["Never", { restartPolicy: "Always" }, 0, "its own restartPolicy Always"],
  ["Never", { restartPolicy: "OnFailure" }, 2, "its own restartPolicy OnFailure, exit code 2"],
  ["Never", { restartPolicy: "OnFailure" }, 0, undefined],
  ["Always", { restartPolicy: "Never" }, 1, undefined],
  ["Never", { restartPolicy: "Whatever" }, 0, "its own restartPolicy Whatever"],
  [
    "Never",
    { restartPolicy: "Never", restartPolicyRules: [restart("In", [42, 43])] },
    43,
    "Restart after exit code 43",
  ],
  ["Never", { restartPolicy: "Never", restartPolicyRules: [restart("In", [42])] }, 1, undefined],
  ["Never", { restartPolicy: "Never", restartPolicyRules: [restart("NotIn", [42])] }, 1, "Restart after exit code 1"],
  ["Never", { restartPolicy: "Never", restartPolicyRules: [restart("NotIn", [42])] }, 42, undefined],
  [
    "Never",
    { restartPolicy: "Never", restartPolicyRules: [restart("In", [1], "RestartAllContainers")] },
    1,
    "RestartAllContainers after exit code 1",
  ],
  // none of its own restartPolicy: the kubelet does not look at rules
  ["Never", { restartPolicyRules: [restart("In", [1])] }, 1, undefined],
  // what a later Kubernetes may have
  ["Never", { restartPolicy: "Never", restartPolicyRules: [restart("Above", [1])] }, 5, "Restart after exit code 5"],
  ["Never", { restartPolicy: "Never", restartPolicyRules: [restart("In", [1], "Recreate")] }, 1, "Recreate after"],
])("in a pod with restartPolicy %s a container with %j that ends with %d", (policy, spec, code, reason) => {
  const pod = viewOf(podOf({ containers: { app: { state: running, spec } }, spec: { restartPolicy: policy } }));
  const [app] = pod.containers;
  const got = app === undefined ? "no container" : restartAfter(code, app, pod);
  if (reason === undefined) expect(got).toBeUndefined();
  else expect(got).toContain(reason);
});

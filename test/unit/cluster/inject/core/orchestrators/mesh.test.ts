import { describe, expect, test } from "bun:test";
import { injectPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import { type Loose, podIn, policy } from "../injection.ts";
import { imageSays } from "../registry.ts";
import { podIn as golden, withIstio } from "./golden.ts";

const ofNamespace = { ...policy, all: true, ...imageSays({}) };

describe("the options of all containers", () => {
  const options = { "ebb.dev/grace": "9s", "ebb.dev/drain": "5s", "ebb.dev/quit-timeout": "7s" };
  const names = (pod: Loose, container: string) =>
    pod.spec.containers.find(({ name }: Loose) => name === container).env.map(({ name }: Loose) => name);

  test("are not a helper's, which has to end its work, but for those that are named for it", () => {
    const pod = withIstio("argo-workflows", false, options);
    const changed = podIn(injectPod(pod, { ...ofNamespace, options: new Map([["grace", "1s"]]) }));
    expect(names(changed, "main")).toEqual(expect.arrayContaining(["EBB_GRACE", "EBB_DRAIN", "EBB_QUIT_TIMEOUT"]));
    expect(names(changed, "wait")).not.toContain("EBB_GRACE");
    expect(names(changed, "wait")).not.toContain("EBB_DRAIN");
    expect(names(changed, "wait")).toContain("EBB_QUIT_TIMEOUT");
    const own = withIstio("argo-workflows", false, { "ebb.dev/grace.wait": "9s" });
    expect(names(podIn(injectPod(own, ofNamespace)), "wait")).toContain("EBB_GRACE");
  });
});

describe("what a pod's user says of a container wins", () => {
  test("a sidecar of its orchestrator is an app", () => {
    const pod = withIstio("airflow-operator", false, { "ebb.dev/apps": "airflow-xcom-sidecar" });
    expect(injectPod(pod, ofNamespace)).toMatchObject({ containers: ["base", "airflow-xcom-sidecar"] });
  });

  test("a helper is none", () => {
    const pod = withIstio("argo-workflows", false, { "ebb.dev/sidecars": "wait", "ebb.dev/native": "false" });
    expect(injectPod(pod, ofNamespace)).toMatchObject({ containers: ["main"] });
  });

  test.each([
    ["airflow-worker-git", "sync-dags"],
    ["spark-driver", "log-shipper"],
  ])("a container beside the app of %s, which nobody ends, becomes native: %s", (file, name) => {
    const pod = withIstio(file, false, { "ebb.dev/sidecars": name });
    const injection = injectPod(pod, ofNamespace);
    expect(injection.warnings.filter(({ message }) => message.includes("outlive"))).toEqual([]);
    expect(podIn(injection).spec.initContainers).toContainEqual(
      expect.objectContaining({ name, restartPolicy: "Always" }),
    );
  });

  test("a container that its orchestrator needs as it is keeps its command, and nobody quits under it", () => {
    const pod = withIstio("actions-runner-job", false, { "ebb.dev/apps": "redis" });
    const injection = injectPod(pod, ofNamespace);
    expect(injection).toMatchObject({ kind: "changed", containers: ["redis"] });
    const message =
      'ebb leaves "job" as it is: Actions Runner Controller needs it as it is; so no ebb in this pod shuts down the sidecars: unless they are native, only ebb reaper ends the pod';
    expect(injection.warnings.map((one) => one.message)).toContain(message);
    const redis = podIn(injection).spec.containers.find(({ name }: Loose) => name === "redis");
    expect(redis.env).toContainEqual({ name: "EBB_QUIT_ON", value: "never" });
  });

  test("alone, such a pod stays as it is", () => {
    const message = 'ebb leaves "job" as it is: Actions Runner Controller needs it as it is';
    expect(injectPod(golden("actions-runner-job"), ofNamespace)).toMatchObject({
      kind: "skipped",
      problems: [{ field: "spec.containers[0].command", message }],
    });
  });
});

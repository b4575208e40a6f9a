import { describe, expect, test } from "bun:test";
import { methodKinds } from "../../../../../src/cluster/reaper/core/methods.ts";
import { told } from "./stuck-containers.ts";
import { ending } from "./stuck-methods.ts";
import { ended, type Json, running } from "./stuck-pods.ts";

describe("a container of the reaper's that is in the pod already", () => {
  const args = ["quit", "--sidecar", "envoy", "--quit-timeout", "30s"];
  const blocked = { waiting: { reason: "CreateContainerConfigError", message: "image will\nrun as root" } };
  const withOwn = (state: Json, spec: Json = {}) =>
    ending("envoy", { ephemeralContainers: { "ebb-reaper-1": { state, spec: { image: "ebb:1", args, ...spec } } } }, [
      "ephemeral",
    ]);

  test.each<[string, Json, string]>([
    [
      "does not start",
      blocked,
      "ephemeral container ebb-reaper-1 does not start: CreateContainerConfigError: image will run as root",
    ],
    ["is not pulled", { waiting: { reason: "ImagePullBackOff" } }, "does not start: ImagePullBackOff"],
    ["has failed", ended(69), "ephemeral container ebb-reaper-1 has ended with 69: Error"],
  ])("is not put there once more where it %s", (_, state, reason) => {
    expect(withOwn(state)).toContain(reason);
  });

  test.each<[string, Json, Json]>([
    ["has done what it could", ended(0), {}],
    ["was of another image", blocked, { image: "ebb:0" }],
    ["was for another sidecar", blocked, { args: ["quit", "--sidecar", "dapr", "--quit-timeout", "30s"] }],
    ["was told where to quit", blocked, { args: [...args.slice(0, 3), "--quit", "http://localhost:1/quit"] }],
  ])("does not keep another one out where it %s", (_, state, spec) => {
    expect(told(withOwn(state, spec))).toEqual(["ephemeral container: ebb quit --sidecar envoy"]);
  });
});

describe("a command that the pod names is not run", () => {
  const annotations = { "ebb.dev/reap-exec.envoy": '["/stop"]' };

  test("unless the reaper was told to", () => {
    expect(ending("envoy", { annotations }, methodKinds, false)).toBe(
      "ebb.dev/reap-exec.envoy is ignored: this reaper runs without --allow-reap-exec",
    );
    expect(told(ending("envoy", { annotations }))).toContain("exec in envoy: /stop");
  });

  test("in a privileged container, which has the node", () => {
    const envoy = { state: running, spec: { securityContext: { privileged: true } } };
    expect(ending("envoy", { annotations, containers: { envoy } })).toContain("is ignored: envoy is privileged");
  });
});

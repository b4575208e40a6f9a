import { describe, expect, test } from "bun:test";
import { type QuitOn, type RestartPolicy, reasonToStay } from "../../../src/core/run/supervision-steps.ts";

const reason = (exitCode: number, quitOn: QuitOn, restartPolicy?: RestartPolicy) =>
  reasonToStay(exitCode, { quitOn, restartPolicy });

describe("the sidecars are quit", () => {
  test.each<[number, QuitOn, RestartPolicy | undefined]>([
    [0, "always", undefined],
    [1, "always", undefined],
    [143, "always", undefined],
    [0, "success", undefined],
    [0, "always", "OnFailure"],
    [0, "success", "OnFailure"],
    [0, "always", "Never"],
    [1, "always", "Never"],
    [0, "success", "Never"],
  ])("after exit code %d with --quit-on %s, restartPolicy %s", (exitCode, quitOn, restartPolicy) => {
    expect(reason(exitCode, quitOn, restartPolicy)).toBeUndefined();
  });
});

describe("the sidecars stay, and the reason says why,", () => {
  const restarts = "the kubelet restarts this container; if the pod is being deleted, the kubelet stops the sidecars";

  test.each<[number, QuitOn, RestartPolicy | undefined, string]>([
    [0, "never", undefined, "--quit-on never"],
    [1, "never", "Always", "--quit-on never"],
    [1, "success", undefined, "--quit-on success, and the exit code is 1"],
    [137, "success", "Never", "--quit-on success, and the exit code is 137"],
    [1, "success", "OnFailure", "--quit-on success, and the exit code is 1"],
    [0, "always", "Always", `restartPolicy Always: ${restarts}`],
    [1, "always", "Always", `restartPolicy Always: ${restarts}`],
    [0, "success", "Always", `restartPolicy Always: ${restarts}`],
    [1, "always", "OnFailure", `restartPolicy OnFailure, exit code 1: ${restarts}`],
    [143, "always", "OnFailure", `restartPolicy OnFailure, exit code 143: ${restarts}`],
  ])("after exit code %d with --quit-on %s, restartPolicy %s", (exitCode, quitOn, restartPolicy, why) => {
    expect(reason(exitCode, quitOn, restartPolicy)).toBe(why);
  });
});

import { describe, expect, test } from "bun:test";
import { type QuitOn, reasonToStay } from "../../../../../src/pod/run/core/supervision-steps.ts";
import { parseRestartCodes, type RestartPolicy } from "../../../../../src/shared/core/restart.ts";

const reason = (exitCode: number, quitOn: QuitOn, restartPolicy?: RestartPolicy, codes?: string) =>
  reasonToStay(exitCode, {
    quitOn,
    restartPolicy,
    restartCodes: codes === undefined ? codes : parseRestartCodes(codes),
  });

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

describe("the container's restart rules count before its policy", () => {
  test.each<[number, RestartPolicy | undefined, string, boolean]>([
    [42, "Never", "42,43", true],
    [43, undefined, "42,43", true],
    [1, "Never", "42,43", false],
    [1, "OnFailure", "42,43", true],
    [0, "OnFailure", "0", true],
    [2, "Never", "!0,1", true],
    [0, "Never", "!0,1", false],
    [1, "OnFailure", "!0,1", true],
  ])(
    "after exit code %d with restartPolicy %s and --restart-codes %s: restarted is %p",
    (exitCode, policy, codes, is) => {
      expect(reason(exitCode, "always", policy, codes) !== undefined).toBe(is);
    },
  );

  test("and the reason names them", () => {
    expect(reason(42, "always", "Never", "42")).toStartWith("--restart-codes, exit code 42: the kubelet restarts");
  });
});

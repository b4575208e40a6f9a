import { describe, expect, test } from "bun:test";
import { type StopWishes, stopSteps } from "../../../../../src/pod/run/core/stop-plan.ts";
import { isShortened, planShutdown } from "../../../../../src/shared/core/shutdown-budget.ts";

/** Times in seconds; 5 s of --min-drain unless it is given. */
const wishes = (drain: number, podGrace?: number, grace?: number, minDrain = 5): StopWishes => ({
  drain: drain * 1000,
  minDrain: minDrain * 1000,
  grace: grace === undefined ? undefined : grace * 1000,
  podGrace: podGrace === undefined ? undefined : podGrace * 1000,
});

const none = new Map<string, string>();

describe("what ends a stop's phases, and when", () => {
  test.each<[StopWishes, readonly string[]]>([
    [wishes(0), ["at once to the app (no --drain)", "app never killed by ebb (no --grace)"]],
    [wishes(0, 30, 10), ["at once to the app (no --drain)", "app killed by 10s (--grace 10s)"]],
    [wishes(0, 30), ["at once to the app (no --drain)", "app killed by the kubelet at 30s (--pod-grace)"]],
    [wishes(0, 30, 60), ["at once to the app (no --drain)", "app killed by 29s (--pod-grace 30s shortens --grace 1m)"]],
    [
      wishes(40, 60, 10),
      ["until 5s accepts (--min-drain 5s)", "drained by 40s (--drain 40s)", "app killed by 50s (--grace 10s)"],
    ],
    [
      wishes(40, 30, 5, 15),
      [
        "until 15s accepts (--min-drain 15s)",
        "drained by 24s (--pod-grace 30s shortens --drain 40s)",
        "app killed by 29s (--grace 5s)",
      ],
    ],
    [
      wishes(60, 30, undefined, 40),
      [
        "until 23s accepts (--pod-grace 30s shortens --min-drain 40s)",
        "drained by 24s (--pod-grace 30s shortens --drain 1m)",
        "app killed by the kubelet at 30s (--pod-grace)",
      ],
    ],
    [
      wishes(10, undefined, undefined, 30),
      [
        "until 9s accepts (--drain 10s shortens --min-drain 30s)",
        "drained by 10s (--drain 10s)",
        "app never killed by ebb (no --grace)",
      ],
    ],
    [
      wishes(15, 60, 20, 15),
      [
        "until 15s accepts (--min-drain 15s)",
        "at 15s to the app, which ends what is left (--drain 15s)",
        "app killed by 35s (--grace 20s)",
      ],
    ],
    [
      wishes(40, 1, 5),
      [
        "at once to the app (--pod-grace 1s shortens --drain 40s)",
        "app killed by 0ms (--pod-grace 1s shortens --grace 5s)",
      ],
    ],
  ])("%j", (given, steps) => {
    expect(stopSteps(given, none)).toEqual(["0s stop signal", ...steps]);
    const isSaid = steps.some((step) => /shortens --(drain|grace)/.test(step));
    expect(isShortened(given, planShutdown(given))).toBe(isSaid);
  });
});

describe("an ordinary proxy that ends by itself is named", () => {
  const istio = (config: string, status = '{"containers":["istio-proxy"]}') =>
    stopSteps(
      wishes(40),
      new Map([
        ["sidecar.istio.io/status", status],
        ["proxy.istio.io/config", config],
      ]),
    ).slice(4);

  test.each([
    '{ "terminationDrainDuration": "60s" }',
    "terminationDrainDuration: 1m0s\n",
    "a: b\nterminationDrainDuration: '60s'",
  ])("by %j", (config) => {
    expect(istio(config)).toEqual(["istio gone at 1m unless a hook keeps it (terminationDrainDuration)"]);
  });

  test("but not a native one, nor one of which nothing tells", () => {
    expect(istio("terminationDrainDuration: 60s", '{"initContainers":["istio-proxy"]}')).toEqual([]);
    expect(istio("terminationDrainDuration: 60s", "")).toEqual([]);
    expect(istio("terminationDrainDuration: soon")).toEqual([]);
    expect(istio("")).toEqual([]);
  });
});

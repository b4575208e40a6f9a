import { describe, expect, test } from "bun:test";
import {
  adviceFor,
  type Expected,
  explain,
  type Logged,
  nextLine,
} from "../../../../../src/pod/wait/core/wait-lines.ts";
import { errorTexts } from "../../../../../src/shared/core/system-error.ts";
import { NO_HEALTH_SERVICE, pollPeriodMs } from "../../../../../src/shared/sidecars/core/probe.ts";

/** The lines of a wait of so many seconds, whose attempts have these reasons. */
function linesOf(seconds: number, reasonAt: (waitedMs: number, attempt: number) => string) {
  const lines: { readonly ms: number; readonly reason: string }[] = [];
  let said: Logged | undefined;
  for (let [ms, attempt] = [0, 0]; ms <= seconds * 1000; ms += pollPeriodMs(ms), attempt += 1) {
    const reason = reasonAt(ms, attempt);
    const line = nextLine(said, reason, ms);
    if (line === undefined) continue;
    said = line;
    lines.push({ ms, reason });
  }
  return lines;
}

/** The waited times after which a line is due in any case, in the first five minutes. */
const due = [10_000, 30_000, 60_000, 120_000, 180_000, 240_000, 300_000];
const isSoonAfter = (dueMs: number, { ms }: { readonly ms: number }) => ms >= dueMs && ms < dueMs + pollPeriodMs(dueMs);
const inFirst = (ms: number, lines: readonly { readonly ms: number }[]) => lines.filter((line) => line.ms < ms).length;

describe("of the reasons of a wait the log has", () => {
  test("one that stays at once, after 10 s, after 30 s, and then each minute", () => {
    const [first, ...again] = linesOf(301, () => "connection refused");
    expect(first?.ms).toBe(0);
    expect(again).toHaveLength(due.length);
    for (const [at, line] of again.entries()) expect(isSoonAfter(due[at] ?? 0, line)).toBe(true);
  });

  test("each change at once, where there are few", () => {
    const reasonAt = (ms: number) => (ms < 50 ? "refused" : ms < 60 ? "no answer" : ms < 2000 ? "503" : "state");
    const lines = linesOf(3, reasonAt);
    expect(lines.map(({ reason }) => reason)).toEqual(["refused", "no answer", "503", "state"]);
    expect(lines[3]?.ms).toBeLessThan(2010);
  });

  test.each<[string, (ms: number, attempt: number) => string]>([
    ["two in turn", (_, attempt) => `${attempt % 2}`],
    ["one that is new each time", (_, attempt) => `HTTP 503 "${attempt}"`],
  ])("%s: a few a second at first, ever fewer later, and those that are due", (_, reasonAt) => {
    const lines = linesOf(3600, reasonAt);
    expect(inFirst(1000, lines)).toBe(3);
    expect(inFirst(10_000, lines)).toBeLessThan(20);
    expect(inFirst(300_000, lines)).toBeLessThan(60);
    expect(lines.length).toBeLessThan(120);
    for (const ms of due) expect(lines.some((line) => isSoonAfter(ms, line))).toBe(true);
  });

  test("a change that had no room as soon as there is", () => {
    const lines = linesOf(2, (ms, attempt) => (ms < 100 ? `${attempt}` : "at last"));
    expect(lines.at(-1)).toEqual({ ms: expect.any(Number), reason: "at last" });
    expect(lines.at(-1)?.ms).toBeLessThan(1020);
  });
});

const trust = "if it is the right server, set --ca-file to a file with its CA or its certificate (PEM)";

describe("what to do about", () => {
  const istio: Expected = { sidecar: "istio", by: "port 15021", isUsualAdmin: false };
  const envoy: Expected = { sidecar: "envoy", by: "--sidecar", isUsualAdmin: true };
  const target: Expected = { sidecar: undefined, by: undefined, isUsualAdmin: false };
  const proven: Expected = { ...envoy, isProven: true };
  const start =
    "its injector's annotation proves that it is in this pod: look at its container, which has not started it yet";
  const none = "if there is no sidecar in this pod, set --sidecar none";

  test.each<[string, Expected, string | undefined]>([
    ["connection refused", istio, none],
    ["connection refused", envoy, `${none}; if its admin interface is elsewhere, set --admin URL`],
    ["connection refused", proven, `${start}; if its admin interface is elsewhere, set --admin URL`],
    ["connection refused", { ...proven, isUsualAdmin: false }, start],
    ['HTTP 503 "DRAINING", connection refused', istio, none],
    ["connection refused", target, undefined],
    ['HTTP 503 "warming up"', istio, "read the log of its container"],
    ['HTTP 503 "HTTP 403"', target, undefined],
    ["no answer", envoy, "read the log of its container"],
    [NO_HEALTH_SERVICE, target, "add grpc.health.v1.Health to it, or wait for its port with tcp://"],
    [errorTexts.DEPTH_ZERO_SELF_SIGNED_CERT, target, trust],
    [errorTexts.UNABLE_TO_VERIFY_LEAF_SIGNATURE, envoy, trust],
  ])("%s", (reason, expected, how) => {
    expect(adviceFor(reason, expected, "connection refused")).toBe(how as string);
  });

  test.each([istio, envoy, target])("401 and 403, of %p", (expected) => {
    for (const reason of ['HTTP 401 "who are you"', 'HTTP 503, HTTP 403 "no"'])
      expect(adviceFor(reason, expected, "connection refused")).toContain('--header "Authorization: ..."');
  });

  test("it, whose it is, and why it is waited for stand in one pair of brackets, or there are none", () => {
    expect(explain(istio, none)).toBe(` (istio, because of port 15021; ${none})`);
    expect(explain({ ...istio, by: undefined }, none)).toBe(` (istio; ${none})`);
    expect(explain(target, "set it")).toBe(" (set it)");
    expect(explain(target, undefined)).toBe("");
  });
});

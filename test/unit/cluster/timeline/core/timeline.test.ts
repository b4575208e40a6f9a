import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { lifeFrom, lineAt, prefixed, START, timelineIn } from "./log-lines.ts";

/** Returns each row as a line: its name, each bar with the seconds since `START`, the counts in flight, and the exits. */
function told(lines: readonly string[]): readonly string[] {
  const seconds = (ms: number) => (ms - START) / 1000;
  return timelineIn(lines).rows.map(({ pod, container, bars, exits }) => {
    const parts = bars.map(({ phase, from, inFlight }) => {
      const counts = inFlight.length === 0 ? "" : ` (${inFlight.map(({ count }) => count).join()})`;
      return `${phase} ${seconds(from)}${counts}`;
    });
    const codes = exits.map((code) => code ?? "open");
    return `${pod}${container === "" ? "" : `/${container}`}: ${parts.join(", ")} to ${seconds(bars.at(-1)?.to ?? 0)}: ${codes}`;
  });
}

const whole = "wait 0, run 2, drain 10 (4,1,0), stop 15, quit 16 to 16.5: 0";

describe("a life", () => {
  test("has its phases, what was in flight, and its exit code", () => {
    expect(told(lifeFrom(0))).toEqual([`stdin: ${whole}`]);
  });

  test("is the same from lines in any order, between others", () => {
    const lines = lifeFrom(0);
    const others = [
      "",
      "hello",
      "ebb: no entry",
      '{"msg":"ebb: done"}',
      '{"time":"2026-01-01T00:00:00Z","msg":"done"}',
    ];
    const property = fc.property(
      fc.shuffledSubarray([...lines, ...others], { minLength: lines.length + others.length }),
      (shuffled) => expect(told(shuffled)).toEqual([`stdin: ${whole}`]),
    );
    fc.assert(property);
  });

  test("of which the log has no start, began as its last line says, but not before the timeline", () => {
    const others = prefixed("a", lifeFrom(3).slice(2));
    expect(told([...others, ...prefixed("b", lifeFrom(0).slice(3))])[1]).toStartWith("b/app: run 5, drain 10");
    expect(told(lifeFrom(0).slice(3))).toEqual(["stdin: run 10, drain 10 (4,1,0), stop 15, quit 16 to 16.5: 0"]);
  });

  test("is open if no line has its end: it reaches to the end of the timeline", () => {
    const lines = [...prefixed("a", lifeFrom(0)), ...prefixed("b", lifeFrom(3).slice(0, 3))];
    expect(told(lines)[1]).toBe("b/app: wait 3, run 5 to 16.5: open");
    expect(told(lifeFrom(0).slice(0, 6))).toEqual(["stdin: wait 0, run 2, drain 10 (4,1) to 13: open"]);
  });

  test("that was not drained stops when the signal is forwarded", () => {
    const lines = [
      lineAt(2, "started the command"),
      lineAt(9, "received a stop signal: forwarding it"),
      lineAt(10, "done", { ranMs: 8000, exitCode: 143 }),
    ];
    expect(told(lines)).toEqual(["stdin: run 2, stop 9 to 10: 143"]);
  });

  test("of a command that never started is a wait", () => {
    const lines = [
      lineAt(1, "waiting until ready", { waitedMs: 1000 }),
      lineAt(30, "done", { waitedMs: 30_000, exitCode: 69 }),
    ];
    expect(told(lines)).toEqual(["stdin: wait 0 to 30: 69"]);
  });

  test("counts what is in flight in all its sidecars", () => {
    const count = (at: number, sidecar: string, requests: number) => lineAt(at, "in flight", { sidecar, requests });
    const lines = [
      lineAt(0, "received a stop signal: draining"),
      count(1, "a", 2),
      count(2, "b", 3),
      count(3, "a", 0),
      lineAt(4, "drain ended", { tookMs: 4000 }),
    ];
    expect(told(lines)).toEqual(["stdin: drain 0 (2,5,3) to 4: "]);
  });

  test("of a preStop hook without ebb run ends with its last line", () => {
    const lines = [lineAt(0, "draining"), lineAt(5, "drain ended", { tookMs: 5000 })];
    expect(told([...prefixed("a", lines, "proxy"), ...prefixed("a", lifeFrom(0))])[0]).toStartWith(
      "a/proxy: drain 0 to 5",
    );
  });
});

describe("a container that was restarted", () => {
  test("has its runs in one row", () => {
    expect(told([...lifeFrom(100), ...lifeFrom(0, 1)])).toEqual([
      "stdin: wait 0, run 2, drain 10 (4,1,0), stop 15, quit 16, " +
        "wait 100, run 102, drain 110 (4,1,0), stop 115, quit 116 to 116.5: 1,0",
    ]);
  });

  test("after a SIGKILL, of which no line says anything, has an open run before the next", () => {
    expect(told([...lifeFrom(0).slice(0, 3), ...lifeFrom(20)])).toEqual([
      "stdin: wait 0, run 2, wait 20, run 22, drain 30 (4,1,0), stop 35, quit 36 to 36.5: open,0",
    ]);
  });
});

test("a life that did not wait begins with its command", () => {
  const [first, next] = [lineAt(1, "started the command"), lineAt(5, "started the command")];
  expect(told([first, next, lineAt(9, "done", { ranMs: 4000, exitCode: 3 })])).toEqual([
    "stdin: run 1, run 5 to 9: open,3",
  ]);
});

describe("rows", () => {
  const life = lifeFrom(0);

  test.each([
    ["kubectl logs --prefix", (line: string) => `[pod/web-1/app] ${line}`, "web-1/app"],
    [
      "kubectl logs --prefix --timestamps",
      (line: string) => `[pod/web-1/app] 2026-01-01T00:00:09.1Z ${line}`,
      "web-1/app",
    ],
    ["stern", (line: string) => `web-1 app ${line}`, "web-1/app"],
    [
      "stern --all-namespaces --timestamps",
      (line: string) => `shop web-1 app 2026-01-01T00:00:09+01:00 ${line}`,
      "shop/web-1/app",
    ],
    ["kubectl logs --timestamps", (line: string) => `2026-01-01T00:00:09.123456789Z ${line}`, "stdin"],
  ])("are named by what %s writes before a line", (_, prefix, name) => {
    expect(told(life.map(prefix))).toEqual([`${name}: ${whole}`]);
    expect(told(life.map((line) => `${prefix(line)}\r`))).toEqual([`${name}: ${whole}`]);
  });

  test("are those of one pod after the other, by their start", () => {
    const lines = [
      ...prefixed("b", lifeFrom(20), "other"),
      ...prefixed("b", lifeFrom(5)),
      ...prefixed("a", lifeFrom(9)),
      ...prefixed("c", lifeFrom(1)),
    ];
    expect(told(lines).map((row) => row.split(":")[0])).toEqual(["c/app", "b/app", "b/other", "a/app"]);
  });
});

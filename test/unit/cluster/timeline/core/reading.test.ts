import { describe, expect, test } from "bun:test";
import { createJoiner } from "../../../../../src/cluster/timeline/core/joined.ts";
import { mixedSources } from "../../../../../src/cluster/timeline/core/mixed.ts";
import { type Line, readLine } from "../../../../../src/cluster/timeline/core/timeline.ts";
import { lifeFrom, lineAt, prefixed } from "./log-lines.ts";

const read = (lines: readonly string[]): readonly Line[] => lines.flatMap((line) => readLine(line, "stdin") ?? []);

describe("a line is the same", () => {
  const line = lineAt(9, "in flight", { sidecar: "istio", requests: 3, connections: 1 });
  const expected = read([line]);
  const spaced = (indent?: string) => JSON.stringify(JSON.parse(line), null, indent);
  const turned = JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(line)).reverse()));

  test.each([
    ["with the time of kubectl logs --timestamps", `2026-01-01T00:00:09.000000001Z ${line}`],
    ["with a time of another zone", `2026-01-01T02:00:09.000000001+02:00 ${line}`],
    ["of a CRI runtime", `2026-01-01T00:00:09.000000001Z stderr F ${line}`],
    ["of a CRI runtime, from stdout", `2026-01-01T00:00:09.000000001Z stdout F ${line}`],
    ["of Docker", JSON.stringify({ log: `${line}\n`, stream: "stderr", time: "2026-01-01T00:00:09.000000001Z" })],
    ["with other blanks", line.replaceAll('":', '" : ').replaceAll(',"', ', "')],
    ["in another order", turned],
    ["with more fields", line.replace("{", '{"kubernetes":{"pod_name":"a"},')],
  ])("%s", (_, other) => {
    expect(expected).toHaveLength(1);
    expect(read([other])).toEqual(expected as Line[]);
  });

  test.each(["  ", "\t"])("as jq prints it, between others", (indent) => {
    const join = createJoiner();
    const app = ["{", "GET /", "{", "  of the app", line, "}"];
    const lines = [...app, ...spaced(indent).split("\n"), ...spaced(indent).split("\n"), "}"];
    expect(read(lines.flatMap((each) => join(each) ?? []))).toEqual([...expected, ...expected, ...expected]);
  });

  test("of a pod that the prefix names, with the time", () => {
    const [named] = prefixed("web-1", [`2026-01-01T00:00:09.000000001Z ${line}`]);
    expect(readLine(named ?? "", "stdin")).toMatchObject({ pod: "web-1", container: "app", count: 4 });
  });
});

describe("lines without a prefix are of one container,", () => {
  const mixed = (lines: readonly string[]) => mixedSources(read(lines));

  test.each([
    ["a life", lifeFrom(0)],
    ["restarts", [...lifeFrom(0), ...lifeFrom(20), ...lifeFrom(40)]],
    ["a restart after a kill", [...lifeFrom(0).slice(0, 3), ...lifeFrom(20)]],
    ["a hook's lines beside it, a little late", [...lifeFrom(0).slice(0, 4), lineAt(9.5, "draining")]],
  ])("of %s", (_, lines) => {
    expect(mixed(lines)).toEqual([]);
  });

  test.each([
    ["pods one after the other", [...lifeFrom(0), ...lifeFrom(2)]],
    ["pods that still run", [...lifeFrom(3).slice(0, 3), ...lifeFrom(0).slice(0, 3)]],
    [
      "pods that were followed",
      [...lifeFrom(0), ...lifeFrom(4)].toSorted((a, b) => timeIn(a).localeCompare(timeIn(b))),
    ],
  ])("but not of %s", (_, lines) => {
    expect(mixed(lines)).toEqual(["stdin"]);
    expect(mixed(prefixed("web", lines))).toEqual([]);
  });
});

function timeIn(line: string): string {
  return JSON.parse(line).time;
}

import { describe, expect, test } from "bun:test";
import { layOut } from "../../../../../src/cluster/timeline/core/layout.ts";
import { drawSvg } from "../../../../../src/cluster/timeline/core/svg.ts";
import { drawText } from "../../../../../src/cluster/timeline/core/text.ts";
import { phases } from "../../../../../src/cluster/timeline/core/timeline.ts";
import { lifeFrom, lineAt, prefixed, timelineIn } from "./log-lines.ts";

const style = (text: string) => text;
const drawn = (lines: readonly string[], width: number) => drawText(timelineIn(lines), width, style);

/** What kubectl logs --since has of a life that began days before. */
const sinceDrain = (lines: readonly string[]) =>
  lines.slice(3).map((line) => line.replace('"ranMs":14000', '"ranMs":300000000'));

/** Two pods that ran for days, and the two that take their place. */
const rollout = [
  ...prefixed("web-7d4b9c5f-abc12", sinceDrain(lifeFrom(2))),
  ...prefixed("web-7d4b9c5f-x9k2p", sinceDrain(lifeFrom(14, 143))),
  ...prefixed("web-66f9d7bb8-q7w8e", lifeFrom(1).slice(0, 3)),
  ...prefixed("web-66f9d7bb8-m2n3b", lifeFrom(12).slice(0, 3)),
];

describe("as text", () => {
  test("a rollout fits into 80 columns", () => {
    expect(`\n${drawn(rollout, 80).join("\n")}\n`).toBe(`
2026-01-01 00:00:01 to 2026-01-01 00:00:30 UTC
                                   00:00:10         00:00:20                exit
web-7d4b9c5f-abc12  ━━━━━━━━━━━━━━━━━━━▒4▒▒▒▒0▒▓▓█                          0
web-7d4b9c5f-x9k2p  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━▒▒4▒▒1▒0▓▓█      143
web-66f9d7bb8-q7w8e ░░░━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━      ›
web-66f9d7bb8-m2n3b                    ░░░━━━━━━━━━━━━━━━━━━━━━━━━━━━━      ›
░ wait  ━ run  ▒ drain (in flight, ! cut)  ▓ stop  █ end the sidecar  › no end
`);
  });

  test("a timeline uses 140 columns", () => {
    expect(`\n${drawn(rollout, 140).join("\n")}\n`).toBe(`
2026-01-01 00:00:01 to 2026-01-01 00:00:30 UTC
                                   00:00:05           00:00:10          00:00:15           00:00:20          00:00:25                   exit
web-7d4b9c5f-abc12  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━▒▒▒▒4▒▒▒▒▒▒1▒▒▒0▒▒▒▓▓▓██                                                   0
web-7d4b9c5f-x9k2p  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━▒▒▒4▒▒▒▒▒▒▒1▒▒▒0▒▒▓▓▓▓██      143
web-66f9d7bb8-q7w8e ░░░░░░░━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━      ›
web-66f9d7bb8-m2n3b                                          ░░░░░░░━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━      ›
░ wait  ━ run  ▒ drain (in flight, ! cut)  ▓ stop  █ end the sidecar  › no end
`);
  });

  test.each([20, 40, 80, 81, 140, 400])(
    "no line is wider than a terminal of %i columns, if that is not too narrow",
    (width) => {
      const widest = Math.max(...drawn(rollout, width).map((line) => line.length));
      expect(widest).toBeLessThanOrEqual(Math.max(width, 78));
    },
  );

  test("each phase has a column at least, however short it is and wherever", () => {
    const [, , row = ""] = drawn(lifeFrom(0), 40);
    expect(row).toMatch(/^stdin ░+━+▒[▒\d]*▓+█+ +0$/);
    const short = [
      lineAt(0, "started the command"),
      lineAt(49.9, "received a stop signal: draining"),
      lineAt(49.95, "drain ended", { tookMs: 50 }),
      lineAt(49.99, "asked the sidecar to exit"),
    ];
    const end = lineAt(50, "done", { ranMs: 49_999, quitMs: 1, exitCode: 0 });
    expect(drawn([...short, end], 60)[2]).toMatch(/^stdin ━+▒▓█ +0$/);
  });

  test("only the bars have colours", () => {
    const mark = (text: string, colour: number) => `<${colour}>${text}</>`;
    const [, axis = "", row = ""] = drawText(timelineIn(lifeFrom(0)), 40, mark);
    expect(axis).not.toContain("<");
    expect(row).toMatch(/^stdin <33>░+<\/><32>━+<\/><36>▒+<\/>4<36>▒.*<35>▓+<\/><34>█+<\/> +0$/);
  });

  test("restarts have their exit codes, the last three of them", () => {
    const lives = [1, 2, 3, 4].flatMap((nth) => lifeFrom(20 * nth, nth));
    expect(drawn(lives.slice(10), 80)[2]).toEndWith(" 2 3 4");
    expect(drawn(lives, 80)[2]).toEndWith("  2 3 4");
    expect(drawn([...lives.slice(20), ...lifeFrom(100).slice(0, 3)], 80)[2]).toEndWith(" 3 4 ›");
  });

  test("names have their containers if these differ, lose their start if they are long, and are printable", () => {
    const names = (lines: readonly string[], width = 80) =>
      drawn(lines, width)
        .slice(2, 4)
        .map((line) => line.split(" ")[0]);
    const [a, b] = [prefixed("a", lifeFrom(0)), prefixed("b", lifeFrom(1), "other")];
    expect(names([...a, ...b])).toEqual(["a/app", "b/other"]);
    expect(names([...a, ...prefixed("b", lifeFrom(1))])).toEqual(["a", "b"]);
    expect(names([...prefixed(`${"x".repeat(80)}-abc12`, lifeFrom(0)), ...a])[0]).toBe(`…${"x".repeat(19)}-abc12`);
    expect(names(prefixed("a\u001b[31m\u202eb", lifeFrom(0)))[0]).toBe("a\\u001b[31m\\u202eb");
  });
});

test("the axis has round times of the day, or dates where they are far apart", () => {
  const axis = (seconds: number, width: number) =>
    drawn([lineAt(0, "started the command"), lineAt(seconds, "in flight")], width)[1]
      ?.trim()
      .split(/ +/)
      .slice(0, -1);
  expect(axis(22, 76)).toEqual(["00:00:00", "00:00:05", "00:00:10", "00:00:15", "00:00:20"]);
  expect(axis(0.2, 76)).toEqual(["00:00:00"]);
  expect(axis(8 * 86_400, 60)).toEqual(["2026-01-01", "2026-01-03", "2026-01-05", "2026-01-07"]);
});

describe("what was in flight", () => {
  /** Draws a drain of 10 s in so many columns, with counts after so many seconds. */
  const drainOf = (counts: readonly (readonly [number, number])[], outcome: string, columns: number) => {
    const isDrained = outcome === "drained";
    const lines = [
      lineAt(0, "received a stop signal: draining"),
      ...counts.map(([at, requests]) => lineAt(at, "in flight", { sidecar: "istio", requests })),
      lineAt(10, isDrained ? "drain ended" : "could not drain the sidecar", {
        ...{ level: isDrained ? "info" : "warn", sidecar: "istio", outcome, tookMs: 10_000 },
      }),
      lineAt(100, "done", { exitCode: 0 }),
    ];
    const sizes = { width: phases.length + 10 * columns, bar: 1, digit: 1, tick: 10 };
    const drain = layOut(timelineIn(lines), sizes).rows[0]?.find(({ phase }) => phase === "drain");
    const cells = Array((drain?.end ?? 0) - (drain?.start ?? 0)).fill("▒");
    for (const { place, text } of drain?.counts ?? []) cells.splice(place - (drain?.start ?? 0), text.length, ...text);
    return cells.join("");
  };

  test.each<[readonly (readonly [number, number])[], string, number, string]>([
    [
      [
        [0, 3],
        [5, 2],
        [9, 0],
      ],
      "drained",
      1,
      "0",
    ],
    [
      [
        [0, 3],
        [5, 2],
        [9, 0],
      ],
      "drained",
      3,
      "3▒0",
    ],
    [
      [
        [0, 3],
        [5, 2],
        [9, 0],
      ],
      "drained",
      7,
      "3▒▒▒2▒0",
    ],
    [
      [
        [0, 3],
        [5, 2],
      ],
      "out of time with 2 left (2 requests)",
      1,
      "!",
    ],
    [
      [
        [0, 3],
        [5, 2],
      ],
      "out of time with 2 left (2 requests)",
      2,
      "2!",
    ],
    [
      [
        [0, 3],
        [5, 2],
      ],
      "out of time with 2 left (2 requests)",
      6,
      "3▒▒2!▒",
    ],
    [
      [
        [0, 123],
        [5, 120],
      ],
      "drained",
      2,
      "▒▒",
    ],
    [
      [
        [0, 123],
        [5, 120],
      ],
      "out of time with 120 left",
      2,
      "▒!",
    ],
    [[], "out of time; what was left could not be counted", 3, "▒▒!"],
  ])("%j, %s, in %d columns: %s", (counts, outcome, columns, shown) => {
    expect(drainOf(counts, outcome, columns)).toBe(shown);
  });

  test("an Envoy that exited before is marked, and what the app ends is not", () => {
    const ended = (level: string, outcome: string) =>
      drawn([lineAt(0, "draining"), lineAt(10, "drain ended", { level, outcome, tookMs: 10_000 })], 80)[2];
    expect(ended("warn", "Envoy exited during the drain, with 2 requests at the last count")).toContain("!");
    expect(ended("info", "3 left (3 requests): the app ends them")).not.toContain("!");
  });
});

describe("as SVG", () => {
  const svg = drawSvg(timelineIn(rollout));

  test("a timeline has the same rows, for light and dark", () => {
    expect(svg).toContain("@media(prefers-color-scheme:dark)");
    for (const pod of ["web-7d4b9c5f-abc12", "web-66f9d7bb8-m2n3b"]) expect(svg).toContain(`>${pod}</text>`);
    for (const phase of ["wait", "run", "drain", "stop", "quit"]) expect(svg).toContain(`<rect class="${phase}" `);
    expect([...svg.matchAll(/class="count"[^>]*>(\d+)</g)].map(([, count]) => count).sort()).toEqual([
      ...["0", "0", "1", "1", "4", "4"],
    ]);
    expect(svg).toContain(">exit 143</text>");
  });

  test("a viewer that reads no styles shows each box, line and text in its colour, on white", () => {
    const [paper, ...shapes] = [...svg.matchAll(/<(?:rect|text|path) [^>]*>/g)].map(([shape]) => shape);
    expect(paper).toContain(' fill="#fff"');
    expect(shapes.length).toBeGreaterThan(20);
    expect(shapes.filter((shape) => !/ (fill|stroke)="#[0-9a-f]{3,6}"/.test(shape))).toEqual([]);
    expect(shapes.filter((shape) => shape.includes('"count"') !== shape.includes('fill="#fff"'))).toEqual([]);
  });

  test("bars stand within the picture, and follow each other", () => {
    const [bars = ""] = svg.split(/<rect [^>]*>\n<text [^>]*>wait</); // the legend follows
    const rows = bars.split(/<text class="name" [^>]* x="12" y="\d+">web-/).slice(1);
    expect(rows.length).toBeGreaterThan(2);
    for (const row of rows) {
      const boxes = [...row.matchAll(/<rect [^>]* x="([\d.]+)" y="\d+" width="([\d.]+)" height="18"/g)];
      const ends = boxes.map(([, x, width]) => [Number(x), Number(x) + Number(width)] as const);
      expect(ends.length).toBeGreaterThan(1);
      for (const [at, [start, end]] of ends.entries()) {
        expect(end).toBeLessThanOrEqual(788.2);
        expect(start).toBeGreaterThanOrEqual((ends[at - 1]?.[1] ?? 12) - 0.2);
      }
    }
  });

  test.each([
    ["this one", svg],
    ["one with names of markup", drawSvg(timelineIn(prefixed(`a]]><script>&"'\u0001\ufffe\ud800`, lifeFrom(0))))],
  ])("%s is well-formed XML", (_, text) => {
    expect(problemIn(text)).toBeUndefined();
  });
});

/** A tag with quoted attributes, or text: no other markup is in these pictures. What XML does not allow is in neither. */
const TOKEN =
  /<(\/?)([a-z]+)((?: [a-zA-Z0-9-]+="[^"<&]*")*)(\/?)>|(?:[^<>&\p{Cc}\p{Cs}\ufffe\uffff]|\n|&(?:amp|lt|gt);)+/uy;

/** Returns what is wrong with an XML document: what is left where it is not well-formed, or the tag that is not closed. */
function problemIn(text: string): string | undefined {
  const open: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex;
    const token = TOKEN.exec(text);
    if (token === null) return text.slice(at, at + 100);
    const [, isEnd, name = "", , isEmpty] = token;
    if (isEnd === "/" && open.pop() !== name) return `</${name}>`;
    if (isEnd === "" && isEmpty === "") open.push(name);
  }
  return open.at(-1);
}

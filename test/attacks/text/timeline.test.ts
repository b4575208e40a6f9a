import { describe, expect, test } from "bun:test";
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { ebbPath, temporaryFolder } from "../../harness/ebb.ts";
import { lifeFrom, lineAt, prefixed } from "../../unit/cluster/timeline/core/log-lines.ts";

const MiB = 1024 * 1024;
const wild = (time: string, more = "") => `{"time":"${time}","msg":"ebb: started the command"${more}}`;

/** Runs `ebb timeline` on what `write` writes, and returns the result with the memory, in MiB, and the ms of processor time that it took. */
async function draw(write: (put: (text: string) => void) => void) {
  using folder = temporaryFolder();
  const [log, svg] = [join(folder.path, "app.log"), join(folder.path, "app.svg")];
  const descriptor = openSync(log, "w");
  write((text) => writeSync(descriptor, text));
  closeSync(descriptor);
  const child = Bun.spawn([ebbPath, "timeline", "--svg", svg, log], { stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  const { maxRSS = 0, cpuTime } = child.resourceUsage() ?? {};
  const cpuMs = Number(cpuTime?.total ?? 0) / 1000;
  return { code, stdout, stderr, svg: readFileSync(svg, "utf8"), memory: maxRSS / MiB, cpuMs };
}

describe("a hostile log", () => {
  test("does nothing to a terminal, a page or ebb", async () => {
    const { code, stdout, stderr, svg } = await draw((put) => {
      put(`${lifeFrom(0).join("\n")}\n`);
      put(`${prefixed("\x1b]0;me\x07\u202e<script>&\0", lifeFrom(1)).join("\n")}\n`);
      for (const time of ["0000-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2026-99-99T99:99:99Z", "", "now"])
        put(`${wild(time)}\n`);
      put(`${wild("2026-01-01T00:00:02Z", `,"x":${"[".repeat(30_000)}${"]".repeat(30_000)}`)}\n`);
      put(`${lineAt(4, "done").replace("}", ',"ranMs":1e999,"waitedMs":-1e308,"exitCode":1e300}')}\n`);
      put(`${wild("2026-01-01T00:00:02Z", ',"sidecar":{"toString":1},"requests":1e15')}\n`);
      put(`[pod/${"a".repeat(60_000)}/app] ${lineAt(3, "started the command")}\n`);
      put(`${"x".repeat(8 * MiB)}\n`);
      put(`${lineAt(17, "started the command")}\0\n\xff\xfe`);
    });
    expect(code).toBe(0);
    for (const text of [stdout, stderr, svg]) expect(text).not.toMatch(/[^\n\P{Cc}]|[\u202a-\u202e]/u);
    expect(stdout).toContain("…\\u202e<script>&\\u0000/app ");
    expect(svg).toContain("&lt;script&gt;");
    expect(svg).not.toContain("<script");
    expect(stderr).toMatch(/^ebb: timeline: warning: app is one row, [^\n]+\n$/); // its times go back
    expect(Math.max(...stdout.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  test("of the year 9999 is drawn", async () => {
    const { code, stdout } = await draw((put) =>
      put(`${wild("9999-12-31T23:59:59Z")}\n${lineAt(0, "started the command")}\n`),
    );
    expect(code).toBe(0);
    expect(stdout).toContain("2026-01-01 00:00:00 to 9999-12-31 23:59:59 UTC");
  });

  test("of many megabytes costs bounded memory", async () => {
    const few = await draw((put) => put(`${lifeFrom(0).join("\n")}\n`));
    const many = await draw((put) => {
      put(`${lifeFrom(0).join("\n")}\n`);
      const app = 'GET / HTTP/1.1 "ebb: " 200\n'.repeat(40_000);
      for (let mebibytes = 0; mebibytes < 30; mebibytes += 1) put(app);
      for (let mebibytes = 0; mebibytes < 100; mebibytes += 1) put("y".repeat(MiB));
    });
    expect(many.stdout).toBe(few.stdout);
    expect(many.memory - few.memory).toBeLessThan(150);
  });

  test("of more lines of ebb than a picture has costs bounded memory and time", async () => {
    const cost = (lines: number) =>
      draw((put) => {
        for (let at = 0; at < lines; at += 1000) {
          const marks = Array.from({ length: 1000 }, (_, nth) => {
            const second = (at + nth) * 86_400;
            const fields = { sidecar: `${at + nth}`, requests: nth };
            return nth % 2 === 0
              ? lineAt(second % 1e10, "started the command")
              : lineAt(second % 1e10, "in flight", fields);
          });
          put(`${marks.join("\n")}\n`);
        }
      });
    const [once, twice] = [await cost(60_000), await cost(120_000)];
    expect([once.code, twice.code]).toEqual([0, 0]);
    expect(twice.stderr).toContain("left out 70000 lines: a timeline has at most 50000 lines of ebb");
    expect(twice.memory).toBeLessThan(1.5 * once.memory);
    expect(twice.cpuMs).toBeLessThan(4 * once.cpuMs);
  }, 180_000);
});

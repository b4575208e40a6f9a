import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ebb, ebbPath, temporaryFolder } from "../../harness/ebb.ts";
import { lifeFrom, prefixed } from "../../unit/cluster/timeline/core/log-lines.ts";

const lines = [...prefixed("web-1", lifeFrom(0)), "[pod/web-1/app] GET / 200", ...prefixed("web-2", lifeFrom(3, 1))];
const text = `${lines.join("\n")}\n`;

/** Writes files into a folder of their own, and returns their paths. */
function filesIn(folder: string, files: Readonly<Record<string, string | Uint8Array>>): readonly string[] {
  return Object.entries(files).map(([name, content]) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  });
}

/** A shell that starts ebb with a file on stdin. */
const reading = (path: string) => ["sh", "-c", `exec "$0" "$@" < '${path}'`];

describe("ebb timeline", () => {
  test.each([["stdin"], ["-"], ["FILE"], ["a pipe"]])(
    "draws the logs of %s, in 80 columns without colours",
    async (from) => {
      using folder = temporaryFolder();
      const [path = ""] = filesIn(folder.path, { all: text });
      const piped = ["bash", "-c", `exec "$0" "$@" <(cat '${path}')`];
      const through = from === "FILE" ? [] : from === "a pipe" ? piped : reading(path);
      const args = ["timeline", ...(from === "FILE" ? [path] : from === "-" ? ["-"] : [])];
      const { code, stdout, stderr } = await ebb(args, { through });
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const [title = "", axis = "", first = "", second = "", ...legend] = stdout.trimEnd().split("\n");
      expect(title).toBe("2026-01-01 00:00:00 to 2026-01-01 00:00:19 UTC");
      expect(axis).toMatch(/^ {6}00:00:00 +00:00:05 .* exit$/);
      expect(first).toMatch(/^web-1 ░+━+▒+4▒[▒\d]*▓+█+ +0$/);
      expect(second).toMatch(/^web-2 {2,}░+━+▒+4▒[▒\d]*▓+█+ +1$/);
      expect(legend).toHaveLength(1);
      expect(Math.max(...stdout.split("\n").map(({ length }) => length))).toBe(80);
    },
  );

  test("names the rows of several files, each of one container, by the files", async () => {
    using folder = temporaryFolder();
    const [old, now, other] = [lifeFrom(0, 137), lifeFrom(30), lifeFrom(5)].map((life) => `${life.join("\n")}\n`);
    const paths = filesIn(folder.path, { "web-1.log": `${old}${now}`, "web-2.log": other ?? "" });
    const { stdout } = await ebb(["timeline", ...paths]);
    expect(stdout).toMatch(/^web-1 .* 137 0$/m);
    expect(stdout).toMatch(/^web-2 .* 0$/m);
  });

  test("names the logs of a node, as CRI runtimes write them, by pod and container", async () => {
    using folder = temporaryFolder();
    const written = (life: readonly string[]) =>
      life.map((line) => `2026-01-01T00:00:00.1Z stderr F ${line}\n`).join("");
    const logs = ["web-1", "web-2"].map((pod, nth) => {
      const inPod = join(folder.path, `shop_${pod}_0c11-7f`, "app");
      mkdirSync(inPod, { recursive: true });
      return filesIn(inPod, { "0.log": written(lifeFrom(3 * nth)) });
    });
    const { stdout, stderr } = await ebb(["timeline", ...logs.flat()]);
    expect({ stdout, stderr }).toEqual({ stdout: expect.stringMatching(/^web-1\/app .*\nweb-2\/app /m), stderr: "" });
  });

  test("warns of a row that has the lines of several pods, and names --prefix", async () => {
    using folder = temporaryFolder();
    const [path = ""] = filesIn(folder.path, { "web.log": `${[...lifeFrom(0), ...lifeFrom(3)].join("\n")}\n` });
    const { code, stderr } = await ebb(["timeline", path]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        "ebb: timeline: warning: web is one row, but has the lines of several containers: name each by kubectl logs --prefix\n",
    });
  });

  test("writes the same as SVG: of the manual's log, the manual's picture", async () => {
    using folder = temporaryFolder();
    const pictures = join(import.meta.dirname, "../../../src/manual/pictures");
    const svg = join(folder.path, "rollout.svg");
    const { code, stdout } = await ebb(["timeline", "--svg", svg, join(pictures, "stop.log")]);
    expect(code).toBe(0);
    expect(stdout).toContain("web-bf95755b9-jsf7z ");
    expect(readFileSync(svg, "utf8")).toBe(readFileSync(join(pictures, "timeline.svg"), "utf8"));
  });

  test.each([80, 140])("at a terminal of %i columns uses them all, and colours", (columns) => {
    using folder = temporaryFolder();
    const [path = ""] = filesIn(folder.path, { all: text });
    const shown = (env: Readonly<Record<string, string>>) =>
      Bun.spawnSync(["script", "-qec", `stty columns ${columns}; exec ${ebbPath} timeline ${path}`, "/dev/null"], {
        stdin: "ignore",
        env: { PATH: process.env.PATH ?? "", TERM: "xterm", ...env },
      }).stdout.toString();
    const plain = shown({ NO_COLOR: "1" });
    expect(plain.split("\r\n")[1]?.length).toBe(columns);
    expect(Bun.stripANSI(shown({}))).toBe(plain);
    expect(shown({})).toContain("\x1b[33m░");
  });

  test("draws what has come when Ctrl-C ends kubectl logs --follow", async () => {
    const child = Bun.spawn([ebbPath, "timeline"], { stdin: "pipe", stdout: "pipe", stderr: "pipe" });
    const padding = "an app's line of sixty-four characters, as many apps write them.\n".repeat(64 * 1024);
    child.stdin.write(text);
    child.stdin.write(padding);
    await child.stdin.flush(); // a pipe holds less: the first lines are read
    child.kill("SIGINT");
    child.stdin.write(`${prefixed("web-3", lifeFrom(9, 7)).join("\n")}\n`);
    child.stdin.end();
    expect(await child.exited).toBe(0);
    expect(await child.stdout.text()).toMatch(/^web-2 .* 1\nweb-3 .* 7$/m);
  });

  test.each([
    ["no line of ebb", "hello\n", 65, "no JSON line of ebb run or ebb drain: try kubectl logs -l app=web "],
    ["nothing", "", 65, "no JSON line of ebb run or ebb drain: try kubectl logs "],
  ])("fails for %s, and says what to do", async (_, content, code, message) => {
    using folder = temporaryFolder();
    const [path = ""] = filesIn(folder.path, { all: content });
    const failed = await ebb(["timeline", path]);
    expect(failed).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(`ebb: timeline: ${message}`) });
  });

  test("fails for a file that cannot be read or written", async () => {
    using folder = temporaryFolder();
    const [path = ""] = filesIn(folder.path, { all: text });
    expect(await ebb(["timeline", "/nonexistent"])).toMatchObject({
      code: 71,
      stderr: "ebb: /nonexistent: cannot access: no such file or directory\n",
    });
    expect(await ebb(["timeline", folder.path])).toMatchObject({ code: 71 });
    expect(await ebb(["timeline", "--svg", "/nonexistent/a.svg", path])).toMatchObject({
      code: 71,
      stdout: "",
      stderr: "ebb: /nonexistent/a.svg: cannot access: no such file or directory\n",
    });
  });
});

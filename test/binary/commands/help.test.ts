import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { manualPages } from "../../../build/pages.ts";
import type { Command } from "../../../src/command.ts";
import { commands } from "../../../src/commands.ts";
import { withPage } from "../../../src/help.ts";
import { describeBriefly, describeCommand, lookOf } from "../../../src/shared/cli/core/help.ts";
import { pageFor, pagelessTopics, toolNames } from "../../../src/shared/cli/core/names.ts";
import { titleOf } from "../../../src/shared/cli/core/page.ts";
import { ebb, ebbPath, isListed } from "../../harness/ebb.ts";

const pages = manualPages();
const topics = Object.keys(pages);
const page = (topic: string) => pages[topic] as string;

/** What a terminal of so many columns shows, `\r` left out. */
function shownAt(columns: number, command: string, env: Readonly<Record<string, string>> = {}): string {
  const words = ["script", "-qec", `stty columns ${columns}; exec ${command}`, "/dev/null"];
  const { stdout } = Bun.spawnSync(words, {
    stdin: "ignore",
    env: { PATH: process.env.PATH ?? "", TERM: "xterm", ...env },
  });
  return stdout.toString().replaceAll("\r", "");
}

describe("--help", () => {
  const overview = ebb(["--help"]);

  test.each([["-h"], [undefined]])("ebb %s is ebb --help: all commands, on stdout, with 0", async (arg) => {
    const { code, stdout, stderr } = await ebb(arg === undefined ? [] : [arg]);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: (await overview).stdout, stderr: "" });
    for (const name of Object.keys(commands).filter(isListed))
      expect(stdout).toMatch(new RegExp(`^  ${name} +\\S`, "m"));
  });

  test.each(Object.keys(commands))("ebb %s --help names each of its flags", async (name) => {
    const { code, stdout, stderr } = await ebb([name, "--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const command = commands[name];
    expect(stdout).toContain(`usage: ebb ${command?.usage}`);
    for (const { flag } of Object.values(command?.options ?? {})) expect(stdout).toContain(`--${flag}`);
    if (!topics.includes(name) && pageFor(name) === undefined) expect((await ebb(["help", name])).stdout).toBe(stdout);
    expect((await ebb([name, "--nonsense", "--help"])).stdout).toBe(stdout);
    expect(stdout).toStartWith(describeCommand(withPage(name, command as Command, pages), lookOf(80)));
  });

  test.each(Object.keys(commands))("ebb %s -h is the short help", async (name) => {
    const { code, stdout, stderr } = await ebb([name, "-h"]);
    const expected = describeBriefly(withPage(name, commands[name] as Command, pages), lookOf(80));
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: expected, stderr: "" });
    expect((await ebb(["-h", name])).stdout).toBe(stdout);
  });

  test("ebb run -h has the ten common flags, a line each", async () => {
    const { stdout } = await ebb(["run", "-h"]);
    const lines = stdout.split("\n").filter((line) => line.startsWith("  "));
    const flags = "sidecar ready wait-timeout on-wait-timeout restart-policy drain min-drain grace pod-grace log-level";
    expect(lines.map((line) => /^ {2}--(\S+) .*[a-z)]$/.exec(line)?.[1])).toEqual(flags.split(" "));
    expect(stdout).toMatch(/ebb run --help: all \d+ flags/);
  });

  test("names no variable of another tool, but the page that has them", async () => {
    const { stdout } = await ebb(["run", "--help"]);
    expect(stdout).not.toMatch(/KILL_ISTIO|SCUTTLE_LOGGING|QUIT_REQUEST_TIMEOUT/);
    expect(stdout).toContain("ebb help options");
    expect((await ebb(["help", "options"])).stdout).toContain("NEVER_KILL_ISTIO");
  });

  describe("at a terminal", () => {
    test.each(["run --help", "run -h", "--help", "help", "scuttle --help"])("ebb %s has colours", async (call) => {
      const shown = shownAt(80, `${ebbPath} ${call}`);
      expect(shown).toContain("\x1b[1m");
      expect(Bun.stripANSI(shown)).toBe((await ebb(call.split(" "))).stdout);
    });

    test.each([{ NO_COLOR: "1" }, { TERM: "dumb" }])("%j: without colours", async (env) => {
      expect(shownAt(80, `${ebbPath} run -h`, env)).toBe((await ebb(["run", "-h"])).stdout);
    });
  });

  test("is as wide as the terminal", async () => {
    const widths = async (columns: number) => {
      const command = `stty columns ${columns}; exec ${ebbPath} run --help`;
      const { stdout } = Bun.spawnSync(["script", "-qec", command, "/dev/null"], { stdin: "ignore" });
      return Math.max(
        ...stdout
          .toString()
          .split("\r\n")
          .filter((line) => !line.startsWith("  ebb "))
          .map((line) => line.length),
      );
    };
    expect(await widths(60)).toBeWithin(50, 61);
    expect(await widths(120)).toBeWithin(100, 121);
  });
});

describe("the manual", () => {
  test("ebb help lists each topic with its title, in three groups", async () => {
    const { code, stdout, stderr } = await ebb(["help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const lines = stdout.split("\n").filter((line) => /^ {2}[a-z0-9-]+ +\S/.test(line));
    const groups = stdout
      .split("\n\n")
      .map((group) => [...group.matchAll(/^ {2}([a-z0-9-]+) +\S/gm)].map(([, name]) => name));
    const [others = [], ofCommands = [], migrations = []] = groups;
    expect(others).toContain("choose");
    expect(ofCommands).toContain("run");
    expect(migrations).toEqual(["from-scuttle", "migrating"]);
    expect(groups.flat().toSorted()).toEqual(topics.toSorted());
    for (const group of groups) expect(group).toEqual(group.toSorted());
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  });

  test.each([
    ["help", "help"],
    ["--help", "help"],
    ["help", "--nonsense"],
  ])("ebb %s %s lists them too", async (first, second) => {
    expect(await ebb([first, second])).toMatchObject({ code: 0, stdout: (await ebb(["help"])).stdout });
  });

  test.each(topics)("ebb help %s is its page, to the byte, in a pipe", async (topic) => {
    expect(await ebb(["help", topic])).toMatchObject({ code: 0, stdout: page(topic), stderr: "" });
  });

  test("ebb help drain has the drawing of its picture, in a pipe and at a terminal", async () => {
    const { stdout } = await ebb(["help", "drain"]);
    const drawing = readFileSync(resolve(import.meta.dirname, "../../../src/manual/pictures/stop.txt"), "utf8");
    expect(stdout).toContain(`\n\`\`\`text\n${drawing}\`\`\`\n`);
    expect(stdout).not.toContain("![");
    const shown = Bun.stripANSI(shownAt(80, `${ebbPath} help drain`)).split("\n");
    const lines = drawing.trimEnd().split("\n");
    for (const line of lines) expect(shown).toContain(line === "" ? "" : `    ${line}`);
    expect(shown.filter((line) => line.includes("<"))).toEqual([]);
  });

  test("at a terminal it fits, has colours, and none of Markdown's marks", () => {
    const shown = shownAt(60, `${ebbPath} help drain`);
    const lines = Bun.stripANSI(shown).split("\n");
    expect(shown).toStartWith("\x1b[");
    expect(lines[0]).toBe(titleOf(page("drain")));
    expect(lines.filter((line) => Bun.stringWidth(line) > 60 && !line.startsWith("    "))).toEqual([]);
    expect(lines.filter((line) => /\*\*|\]\(|^#|^\|/.test(line))).toEqual([]);
  });

  test.each([{ NO_COLOR: "1" }, { TERM: "dumb" }])("%j: without colours", (env) => {
    const shown = shownAt(60, `${ebbPath} help drain`, env);
    expect(shown).toStartWith(`${titleOf(page("drain"))}\n`);
    expect(shown).not.toContain("\x1b");
  });

  test.each([
    ["nosuch", 'help: "nosuch": no such topic; ebb help lists them'],
    ["drian", 'help: "drian": no such topic; did you mean ebb help drain?'],
    ["Cosign", 'help: "Cosign": no such topic; pages that have the word: ebb help verify, ebb help air-gapped'],
    ["slepe", 'help: "slepe": no such topic; did you mean ebb help sleep?'],
  ])("ebb help %s names what there is", async (topic, reason) => {
    expect(await ebb(["help", topic])).toMatchObject({ code: 64, stdout: "", stderr: `ebb: ${reason}\n` });
  });

  test.each([
    ["why", "kubectl"],
    ["request", "status"],
    ["variables", "options"],
    ["scuttle", "from-scuttle"],
    ["from-envoy-preflight", "from-scuttle"],
    ["linkerd-await", "migrating"],
    ["from-valet", "migrating"],
  ])("ebb help %s is the page %s, which has it", async (topic, other) => {
    expect(topics).not.toContain(topic);
    expect((await ebb(["help", topic])).stdout).toBe(page(other));
  });

  test("each topic without a page of its own leads to a page", () => {
    const targets = pagelessTopics.map((topic) => pageFor(topic));
    expect(targets.length).toBeGreaterThan(2);
    expect(topics).toEqual(expect.arrayContaining(targets));
  });

  test.each(toolNames)("ebb %s --help names its page", async (name) => {
    const [, topic = ""] = /^more: ebb help (\S+)$/m.exec((await ebb([name, "--help"])).stdout) ?? [];
    expect(topics).toContain(topic);
  });

  test("ebb help COMMAND is its --help where it has no page", async () => {
    expect((await ebb(["help", "completion"])).stdout).toBe((await ebb(["completion", "--help"])).stdout);
  });
});

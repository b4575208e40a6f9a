import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { compile } from "../../../build/bundle/compile.ts";
import { linkStatic } from "../../../build/link/link-static.ts";
import { shrink } from "../../../build/shrink/shrink.ts";
import { targetNamed } from "../../../build/targets.ts";
import { verify } from "../../../build/verify.ts";
import { temporaryFolder } from "../../harness/ebb.ts";
import { link, smallProgram, x64 } from "../link/small-elf.ts";

const build = resolve(import.meta.dirname, "../../../build");
const lockfile = resolve(build, "../package-lock.json");
const target = targetNamed(process.arch);

type Said = Readonly<Record<string, Readonly<Record<string, string>>>>;

describe("a program that uses Intl, Unicode and legacy encodings", () => {
  const folder = temporaryFolder();
  const path = {
    compiled: join(folder.path, "program"),
    whole: join(folder.path, "whole"),
    small: join(folder.path, "small"),
  };
  let whole: Said = {};
  let small: Said = {};
  let report: readonly string[] = [];

  beforeAll(async () => {
    const entry = join(import.meta.dirname, "intl-program.ts");
    await compile({ entry, outfile: path.compiled, target, lockfile, bun: undefined, made: new Map() });
    const input = readFileSync(path.compiled);
    const linked = linkStatic({ bytes: input, name: "program", sources: [join(build, "link/glue.c")], target });
    const shrunk = shrink({ input, linked: linked.bytes, target });
    verify({ input, output: shrunk.bytes, patches: linked.patches, target });
    writeFileSync(path.whole, linked.bytes, { mode: 0o755 });
    writeFileSync(path.small, shrunk.bytes, { mode: 0o755 });
    report = shrunk.report;
    whole = said(path.whole);
    small = said(path.small);
  }, 60_000);

  afterAll(() => folder[Symbol.dispose]());

  test("is a tenth smaller, and every asset of Bun is known", () => {
    expect(statSync(path.small).size).toBeLessThan(statSync(path.whole).size - 11e6);
    expect(report.filter((line) => line.startsWith("kept"))).toEqual([]);
  });

  test("says the same in English, of every region", () => {
    expect(Object.keys(small.english ?? {}).length).toBeGreaterThan(300);
    expect(small.english).toEqual(whole.english);
  });

  test("says the same of time zones, case, normal forms, regular expressions, hosts and encodings", () => {
    expect(Object.keys(small.same ?? {}).length).toBeGreaterThan(100);
    expect(small.same).toEqual(whole.same);
  });

  test("says in other languages what it says in English, and that it does not know them", () => {
    const words = Object.entries(small.languages ?? {});
    expect(words.length).toBeGreaterThan(600);
    for (const [what, text] of words)
      expect(`${what}: ${text}`).toBe(`${what}: ${small.english?.[what.replace(/^\S+/, "en-US")]}`);
    expect(small.languages).not.toEqual(whole.languages);
    expect(new Set(Object.values(small.supported ?? {}))).toEqual(new Set([""]));
    expect(small.collations).toEqual({ all: "emoji,eor" });
  });

  test("cuts text without spaces into parts that are all of it", () => {
    const results = Object.values(small.unspaced ?? {});
    expect(results.length).toBeGreaterThan(20);
    expect(results.every((isWhole) => String(isWhole) === "true")).toBe(true);
  });
});

test("an executable without ICU's data is refused", () => {
  const input = smallProgram();
  expect(() => shrink({ input, linked: link(input).bytes, target: x64 })).toThrow(/ICU data: expected one package/);
});

function said(program: string): Said {
  const { status, signal, stdout, stderr } = spawnSync(program, { encoding: "utf8", env: {}, maxBuffer: 2 ** 24 });
  if (status !== 0) throw new Error(`${program}: ${status ?? signal}: ${stderr}`);
  return JSON.parse(stdout) as Said;
}

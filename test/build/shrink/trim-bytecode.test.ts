import { describe, expect, test } from "bun:test";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parsedModules } from "../../../build/bundle/lazy-bundles.ts";
import { findModuleGraph, type ModuleGraph, readModuleGraph } from "../../../build/shrink/module-graph.ts";
import { trimBytecode, trimGraph } from "../../../build/shrink/trim-bytecode.ts";
import { ebbPath, temporaryFolder } from "../../harness.ts";

using folder = temporaryFolder();
const compiled = await compileProgram(folder.path);
const trimmed = trimBytecode(compiled, ["/$bunfs/root/later.js"]);
const outputs = [compiled, trimmed].map((file) => output(join(folder.path, "copy"), file));
const bytes = graphBytes(compiled);
const [before, after] = [readModuleGraph(bytes), readModuleGraph(graphBytes(trimmed))];

/** A start, a module that is loaded later, and what both have from Bun's own. */
async function compileProgram(path: string): Promise<Uint8Array> {
  const start = "const { say } = await import('./later.ts'); console.log(say(['a', 'start']));";
  const later = "import { basename } from 'node:path'; export const say = (words) => basename(words.join(' '));";
  const soon = "await import('./soon.ts');";
  writeFileSync(join(path, "start.ts"), `${start} ${soon}`);
  writeFileSync(join(path, "later.ts"), later);
  writeFileSync(join(path, "soon.ts"), "console.log(require('node:fs').existsSync('/'), 'soon');");
  await Bun.build({
    entrypoints: [join(path, "start.ts")],
    compile: { outfile: join(path, "program") },
    bytecode: true,
    format: "esm",
    splitting: true,
    naming: { chunk: "[name].js" },
  });
  return readFileSync(join(path, "program"));
}

function graphBytes(file: Uint8Array): Uint8Array {
  const { from, to } = findModuleGraph(file, { from: 0, to: file.length });
  return new Uint8Array(file.subarray(from, to));
}

function sizes({ modules }: ModuleGraph): Record<string, number> {
  return Object.fromEntries(modules.map(({ name, bytecode }) => [name, bytecode.to - bytecode.from]));
}

function output(path: string, file: Uint8Array): string {
  writeFileSync(path, file);
  chmodSync(path, 0o755);
  const { stdout, stderr } = Bun.spawnSync([path], { env: {} });
  return `${stdout}${stderr}`;
}

describe("bytecode that no start waits for", () => {
  test("goes: that of the modules which are named, and that of Bun's own", () => {
    expect(sizes(before)["/$bunfs/root/later.js"]).toBeGreaterThan(0);
    expect(before.internals.length).toBeGreaterThan(0);
    expect(sizes(after)).toEqual({ ...sizes(before), "/$bunfs/root/later.js": 0 });
    expect(after.internals).toEqual([]);
    expect(bytes.length - graphBytes(trimmed).length).toBeGreaterThan(100_000);
  });

  test("what stays is the same, as well aligned as before", () => {
    const [old, now] = [bytes, graphBytes(trimmed)];
    for (const [index, { bytecode }] of after.modules.entries()) {
      const { from, to } = (before.modules[index] as ModuleGraph["modules"][number]).bytecode;
      if (bytecode.to === bytecode.from) continue;
      expect(Buffer.compare(now.subarray(bytecode.from, bytecode.to), old.subarray(from, to))).toBe(0);
      expect((bytecode.from + 8) % 128).toBe(0);
    }
  });

  test("the program says the same without it", () => {
    expect(outputs).toEqual(["a start\ntrue soon\n", "a start\ntrue soon\n"]);
  });

  test("of ebb, it is what runs at a desk or once in a replica's life; every command of pods has its own", () => {
    const { modules, internals } = readModuleGraph(graphBytes(readFileSync(ebbPath)));
    const without = modules.filter(({ bytecode }) => bytecode.from === bytecode.to).map(({ name }) => name);
    expect(without.toSorted()).toEqual([...parsedModules].toSorted());
    expect(modules.map(({ name }) => name)).toContain("/$bunfs/root/dispatch.js");
    expect(internals).toEqual([]);
  });
});

describe("a program of another layout is refused", () => {
  test.each([
    ["a record that nobody knows", 28, 0x1000, "flags 0x1"],
    ["a table of modules that is not whole", 12, 51, "51 bytes are no table of modules"],
    ["a table behind the end", 8, 0x7fff_ffff, "are not in it"],
  ])("%s", (_, at, value, message) => {
    const damaged = new Uint8Array(bytes);
    new DataView(damaged.buffer).setUint32(before.end + at, value, true);
    expect(() => trimGraph(damaged, [])).toThrow(message);
  });

  test("one whose length is not told twice", () => {
    const damaged = new Uint8Array(compiled);
    const { from } = findModuleGraph(damaged, { from: 0, to: damaged.length });
    damaged.fill(0, from - 8, from);
    expect(() => trimBytecode(damaged, [])).toThrow("the length before it");
  });

  test("one that has no program inside", () => {
    expect(() => trimBytecode(readFileSync(process.execPath), [])).toThrow("does not end with the program");
  });
});

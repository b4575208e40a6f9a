import { describe, expect, test } from "bun:test";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parsedModules } from "../../../build/bundle/lazy-bundles.ts";
import { findModuleGraph, type ModuleGraph, readModuleGraph } from "../../../build/shrink/module-graph.ts";
import { trimBytecode, trimGraph } from "../../../build/shrink/trim-bytecode.ts";
import { ebbPath, temporaryFolder } from "../../harness.ts";

using folder = temporaryFolder();
const compiled = await compileProgram(folder.path);
const shifted = await compileProgram(folder.path, "console.log('more', 'strings');");
const trimmed = trimBytecode(compiled, ["/$bunfs/root/later.js"]);
const outputs = [compiled, trimmed].map((file) => output(join(folder.path, "copy"), file));
const bytes = graphBytes(compiled);
const [before, after] = [readModuleGraph(bytes), readModuleGraph(graphBytes(trimmed))];

/** A start, a module that is loaded later, and what both have from Bun's own. */
async function compileProgram(path: string, more = ""): Promise<Uint8Array> {
  const start = "const { say } = await import('./later.ts'); console.log(say(['a', 'start']));";
  const later =
    "import { basename } from 'node:path'; export const say = (words) => basename(words.join(' ')) || 'only later';";
  const soon = "await import('./soon.ts');";
  writeFileSync(join(path, "start.ts"), `${more} ${start} ${soon}`);
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

/** By their numbers; undefined where one is gone. */
function stringsOf(graph: Uint8Array): (string | undefined)[] {
  const { strings } = readModuleGraph(graph);
  const table = Buffer.from(graph.subarray(strings?.from, strings?.to));
  return Array.from({ length: table.readUInt32LE(0) }, (_, number) => {
    const at = table.readUInt32LE(4 + 4 * number);
    if (at === table.length) return undefined;
    const size = table.readUInt32LE(at);
    const isLatin1 = size >>> 31 === 1;
    return isLatin1 ? table.toString("latin1", at + 8, at + 8 + (size % 2 ** 31)) : "UTF-16";
  });
}

function wordsOfModule(graph: Uint8Array, name: string): Uint32Array {
  const { bytecode } = readModuleGraph(graph).modules.find(
    (module) => module.name === name,
  ) as ModuleGraph["modules"][0];
  return new Uint32Array(graph.slice(bytecode.from, bytecode.to).buffer);
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

  test("goes with the strings that it alone names; each other one keeps its number", () => {
    const [old, now] = [stringsOf(bytes), stringsOf(graphBytes(trimmed))];
    expect(old.length).toBe(now.length);
    const gone = old.filter((_, number) => now[number] === undefined);
    expect(old).toContain("only later");
    expect(gone).toContain("only later");
    expect(gone.length).toBeGreaterThan(old.length / 2);
    expect(now).toEqual(old.map((text, number) => (now[number] === undefined ? undefined : text)));
    for (const text of ["soon", "existsSync", "start"]) expect(now).toContain(text);
  });

  test("a word names a string, by its number and the bits 10: so the strings that are needed can be found", () => {
    const [one, other] = [compiled, shifted].map(graphBytes) as [Uint8Array, Uint8Array];
    const [names, otherNames] = [stringsOf(one), stringsOf(other)];
    const [code, otherCode] = [one, other].map((graph) => wordsOfModule(graph, "/$bunfs/root/soon.js"));
    const changes = [...(code as Uint32Array)].flatMap((word, at) => {
      const now = otherCode?.[at] ?? 0;
      return word === now ? [] : [[word, now] as const];
    });
    expect(changes.length).toBeGreaterThan(5);
    for (const [word, now] of changes) {
      expect([word % 4, now % 4]).toEqual([2, 2]);
      expect(otherNames[now >>> 2]).toBe(names[word >>> 2] ?? "");
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

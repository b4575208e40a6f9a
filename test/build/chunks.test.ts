import { expect, test } from "bun:test";
import { resolve } from "node:path";

const bundle = await Bun.build({
  entrypoints: [resolve(import.meta.dirname, "../../src/main.ts")],
  minify: true,
  splitting: true,
  target: "bun",
});
const chunks = await Promise.all(
  bundle.outputs.map(async (output) => ({ path: output.path, kind: output.kind, text: await output.text() })),
);

test("all that a container starts with is one chunk: each further one costs a start 0.1 ms", () => {
  const [entry] = chunks.filter(({ kind }) => kind === "entry-point");
  expect(entry?.text.length).toBeGreaterThan(10_000);
  expect(entry?.text.match(/\bfrom"\.\/[^"]+"/g)).toBeNull();
});

test("what few need is loaded later: p-retry, zod and what it checks, the version, manuals, completion", () => {
  const later = chunks.filter(({ kind }) => kind === "chunk").map(({ text }) => text);
  const has = (word: string) => later.filter((text) => text.includes(word)).length;
  const rare = [
    "retries",
    "_zod",
    "initContainers",
    "traffic_direction",
    "devDependencies",
    "As ENTRYPOINT",
    "compopt",
  ];
  expect([later.length, ...rare.map(has)]).toEqual([7, 1, 1, 1, 1, 1, 1, 1]);
});

test("development's stand-in for src/native is not in the executable", () => {
  expect(chunks.some(({ text }) => text.includes("posix_spawnp"))).toBe(false);
});

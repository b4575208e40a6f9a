import { expect, test } from "bun:test";
import { resolve } from "node:path";
import { bundleLazily, lazyBundles } from "../../../build/bundle/lazy-bundles.ts";

const bundle = await Bun.build({
  entrypoints: [resolve(import.meta.dirname, "../../../src/main.ts")],
  minify: true,
  splitting: true,
  target: "bun",
  plugins: [await bundleLazily()],
});
const chunks = await Promise.all(
  bundle.outputs.map(async (output) => ({ path: output.path, kind: output.kind, text: await output.text() })),
);
const start = chunks.find(({ kind }) => kind === "entry-point")?.text ?? "";
const later = chunks.filter(({ kind }) => kind === "chunk").map(({ text }) => text);

test("all that a container starts with is one chunk: each further one costs a start 0.1 ms", () => {
  expect(start.length).toBeGreaterThan(10_000);
  expect(start.match(/\bfrom"\.\/[^"]+"/g)).toBeNull();
});

test.each([
  ["p-retry", "onFailedAttempt"],
  ["zod", "_zod"],
  ["draining", "/healthcheck/fail"],
  ["asking at ports", "PRE_INITIALIZING"],
  ["other tools' calls", "requestTimeoutMillis"],
  ["what ends processes", "shareProcessNamespace: true"],
  ["help", "As ENTRYPOINT"],
  ["completion", "compopt"],
  ["the commands of debugging", "close-wait"],
  ["the version", "devDependencies"],
  ["reading and writing YAML", "keepSourceTokens"],
  ["the licences", "zstdDecompressSync"],
  ["the webhook", "AdmissionReview"],
  ["the reaper", "ebb_reaper_"],
])("%s is loaded later, by those that need it", (_, word) => {
  expect(start.includes(word)).toBe(false);
  expect(later.some((text) => text.includes(word))).toBe(true);
});

test.each([
  ["YAML", "keepSourceTokens", 4],
  ["certificates", "tbsCertificate", 1],
  ["metrics", "ebb_webhook_", 1],
  ["the change of pods", "ebb.dev-podinfo", 2],
])("%s: loaded by the commands of the cluster side that need it, and by nobody else", (_, word, times) => {
  const those = later.filter((text) => text.includes(word));
  expect(those).toHaveLength(times);
  expect(those.some((text) => text.includes("As ENTRYPOINT"))).toBe(false);
});

test("the lazy bundles are all that is loaded later, and each finds the others", () => {
  expect(later).toHaveLength(lazyBundles.length);
  for (const { text } of chunks) expect(text).not.toContain('"lazy:');
});

test("development's stand-in for src/native is not in the executable", () => {
  expect(chunks.some(({ text }) => text.includes("posix_spawnp"))).toBe(false);
});

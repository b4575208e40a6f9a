import { expect, test } from "bun:test";
import { check } from "recheck";

// `npm run check` judges the regular expressions that stand in src/ as they are (build/regexps.ts).

const MEGABYTE = 1_000_000;
/** Of what the worst texts for such expressions are made: runs of each, ended by what fits nowhere. */
const pieces = [" ", "\n", "a", "A", "0", "/", ".", "-", "_", ":", ",", "=", "'", "\\", "a.", "a-", "a/", "a,", "0:"];
const more = ["//a/", "a=b,", 'a="b",', "curl ", "ebb ", "'//a", " - ", "sha256:", "inbound|", "a:0/", "x::y "];
const worst = [...pieces, ...more].map((piece) => `${piece.repeat(MEGABYTE / piece.length)}\u0001`);

/** Runs a function, and returns the regular expressions that src/ builds from texts meanwhile. */
async function builtBy(run: () => Promise<void>): Promise<readonly RegExp[]> {
  const built: RegExp[] = [];
  const { RegExp: original } = globalThis;
  globalThis.RegExp = new Proxy(original, {
    construct(target, [pattern, flags]) {
      const made = new target(pattern, flags);
      const frames = new Error().stack?.split("\n").filter((frame) => frame.includes("/")) ?? [];
      if (frames[1]?.includes("/src/")) built.push(made); // frames[0] is this function
      return made;
    },
  });
  try {
    await run();
  } finally {
    globalThis.RegExp = original;
  }
  return built;
}

test("a regular expression that is built from data takes linear time", async () => {
  const built = await builtBy(async () => {
    const files = [...new Bun.Glob("src/{core,kube}/**/*.ts").scanSync()];
    const modules = await Promise.all(files.map((file) => import(`../../${file}`)));
    const { countInbound, parseChallenges, kindOf, sidecarNames } = Object.assign({}, ...modules);
    parseChallenges("Basic");
    for (const name of sidecarNames) countInbound("", kindOf(name).inbound ?? { clusters: "a" });
  });
  expect(built.map(({ source }) => source)).toContainEqual(expect.stringContaining("quitquitquit"));
  for (const { source, flags } of built) {
    const { status } = await check(source, flags, { timeout: 60_000 });
    expect([source, status]).toEqual([source, "safe"]);
  }
  for (const one of built) for (const text of worst) one.test(text);
}, 120_000);

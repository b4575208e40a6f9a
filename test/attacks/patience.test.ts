import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import {
  isArrayLiteralExpression,
  isCallExpression,
  isIdentifier,
  isNewExpression,
  isNoSubstitutionTemplateLiteral,
  isNumericLiteral,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isStringLiteral,
  isTemplateHead,
  isTemplateMiddle,
  isTemplateTail,
  isVariableDeclaration,
  type Node,
  type SourceFile,
} from "typescript/unstable/ast";
import { API } from "typescript/unstable/async";
import { temporaryFolder } from "../harness.ts";

// A test that sleeps guesses; one that is tried again forgives. A test waits for what it needs: `until` in test/harness.ts.
// What takes time on purpose says so: `takes`, `never`, `settled`, `within` in test/time.ts.

const project = resolve(import.meta.dirname, "..", "..");

/** All places where it is meant: what it is and how often, and why. */
const meant: Readonly<Record<string, readonly [found: Readonly<Record<string, number>>, why: string]>> = {
  "test/time.ts": [{ "Bun.sleep": 1 }, "all others call it"],
  "test/cluster/programs/server.ts": [{ "Bun.sleep": 1 }, "alone in its image: its answers are slow"],
  "test/cluster/programs/clients.ts": [{ "Bun.sleep": 3 }, "alone in its image: its clients pause"],
  "test/cluster/run/native.test.ts": [{ "Bun.sleep in a text": 1 }, "alone in its pod: it calls each 20 ms"],
  "test/cluster/reaper/reapers.ts": [{ "Bun.sleep in a text": 1 }, "alone in its pod: it asks each 50 ms"],
  "test/cluster/run/restarts.test.ts": [{ "Bun.sleep in a text": 1 }, "alone in its pod: it takes memory slowly"],
};

/** What each way to sleep or to try again looks like. */
const examples: readonly (readonly [text: string, found: string])[] = [
  ["await Bun.sleep(5);", "Bun.sleep"],
  ["Bun.sleepSync(5);", "Bun.sleepSync"],
  ["const { sleep } = Bun; await sleep(5);", "Bun taken apart"],
  ['import { setTimeout } from "node:timers/promises"; await setTimeout(5);', "timers/promises"],
  ['await (await import("timers/promises")).setTimeout(5);', "timers/promises"],
  ["await new Promise((resolve) => setTimeout(resolve, 5));", "a promise of setTimeout"],
  ["await new Promise((resolve) => { setTimeout(() => resolve(1), 5); });", "a promise of setTimeout"],
  ["const { promise, resolve } = Promise.withResolvers(); setTimeout(resolve, 5); await promise;", "setTimeout(NAME)"],
  ['import { promisify } from "node:util"; await promisify(setTimeout)(5);', "setTimeout as a value"],
  ["Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);", "Atomics.wait"],
  ['Bun.spawnSync(["sleep", "5"]);', "a program that sleeps"],
  ['import { spawnSync } from "node:child_process"; spawnSync("sleep", ["5"]);', "a program that sleeps"],
  ["const program = `while (true) await Bun.sleep(5);`;", "Bun.sleep in a text"],
  ['test("x", () => undefined, { retry: 2 });', "retry"],
  ['Bun.spawn(["bun", "test", "--retry", "2"]);', "--retry"],
];

test("each way to sleep or to try again is found", async () => {
  using folder = temporaryFolder();
  const path = (at: number) => join(folder.path, `example-${at}.ts`);
  for (const [at, [text]] of examples.entries()) writeFileSync(path(at), text);
  const fine = join(folder.path, "fine.ts");
  writeFileSync(fine, 'const limit = setTimeout(() => stop("late"), 5); clearTimeout(limit); // Bun.sleep(5) --retry');
  const found = await findIn([...examples.keys()].map(path).concat(fine));
  for (const [at, [, name]] of examples.entries()) expect([...(found.get(path(at)) ?? [])]).toEqual([[name, 1]]);
  expect(found.has(fine)).toBe(false);
}, 60_000);

test("no test sleeps, and none is tried again, but where that is meant", async () => {
  const names = readdirSync(join(project, "test"), { recursive: true, encoding: "utf8" });
  const paths = names.filter((name) => name.endsWith(".ts")).map((name) => join(project, "test", name));
  const own = join(import.meta.dirname, "patience.test.ts"); // which holds the examples
  const suspects = paths.filter((path) => path !== own && suspicious.test(readFileSync(path, "utf8")));
  const found = await findIn(suspects);
  const places = [...found].map(([path, counts]) => [relative(project, path), Object.fromEntries(counts)] as const);
  const expected = Object.entries(meant).map(([path, [counts]]) => [path, counts] as const);
  expect(Object.fromEntries(places)).toEqual(Object.fromEntries(expected));
}, 60_000);

test("no script tries again", () => {
  for (const path of ["package.json", ".ci/run"])
    expect([path, /--retry|--rerun|--repeat/.exec(readFileSync(join(project, path), "utf8"))]).toEqual([path, null]);
});

/** Where none of this stands, there is nothing to be found: only the others are parsed. */
const suspicious = /sleep|setTimeout|timers\/promises|Atomics|retry/;

type Counts = Map<string, number>;

/** What is found in each of these files, and how often, by TypeScript's own parser. */
async function findIn(paths: readonly string[]): Promise<ReadonlyMap<string, Counts>> {
  using folder = temporaryFolder();
  const config = join(folder.path, "tsconfig.json");
  const compilerOptions = { noResolve: true, noLib: true, types: [], allowImportingTsExtensions: true, noEmit: true };
  writeFileSync(config, JSON.stringify({ compilerOptions, files: paths }));
  const api = new API({ cwd: folder.path });
  try {
    const snapshot = await api.updateSnapshot({ openProject: config });
    const [opened] = snapshot.getProjects();
    const found = new Map<string, Counts>();
    for (const path of paths) {
      const file = await opened?.program.getSourceFile(path);
      if (file === undefined) throw new Error(`${path} cannot be parsed`);
      const counts = countsIn(file);
      if (counts.size > 0) found.set(path, counts);
    }
    return found;
  } finally {
    await api.close();
  }
}

function countsIn(file: SourceFile): Counts {
  const counts: Counts = new Map();
  const visit = (node: Node): void => {
    const name = nameOf(node);
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
    node.forEachChild(visit);
  };
  visit(file);
  return counts;
}

/** How a node makes a test sleep or has it tried again; undefined: it does not. */
function nameOf(node: Node): string | undefined {
  if (isPropertyAccessExpression(node)) return nameOfAccess(node.expression, node.name.text);
  if (isIdentifier(node)) return nameOfIdentifier(node);
  if (isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node)) return nameOfText(node.text);
  if (isTemplateHead(node) || isTemplateMiddle(node) || isTemplateTail(node)) return nameOfText(node.text);
  if (isCallExpression(node)) return nameOfCall(node.expression, node.arguments[0]);
  if (isPropertyAssignment(node) && isIdentifier(node.name) && node.name.text === "retry")
    return isNumericLiteral(node.initializer) ? "retry" : undefined;
  return undefined;
}

function nameOfAccess(object: Node, name: string): string | undefined {
  if (!isIdentifier(object)) return undefined;
  const whole = `${object.text}.${name}`;
  return ["Bun.sleep", "Bun.sleepSync", "Atomics.wait"].includes(whole) ? whole : undefined;
}

function nameOfIdentifier(node: Node & { readonly text: string }): string | undefined {
  const { parent } = node;
  if (node.text === "Bun" && isVariableDeclaration(parent)) return "Bun taken apart";
  const isArgument = isCallExpression(parent) && parent.arguments.some((each) => each === (node as Node));
  return node.text === "setTimeout" && isArgument ? "setTimeout as a value" : undefined;
}

function nameOfText(text: string): string | undefined {
  if (/^(node:)?timers\/promises$/.test(text)) return "timers/promises";
  if (text === "--retry") return "--retry";
  return text.includes("Bun.sleep") ? "Bun.sleep in a text" : undefined;
}

function nameOfCall(callee: Node, first: Node | undefined): string | undefined {
  const name = isPropertyAccessExpression(callee) ? callee.name.text : isIdentifier(callee) && callee.text;
  if (name === "setTimeout" && isInPromise(callee)) return "a promise of setTimeout";
  if (name === "setTimeout" && first !== undefined && isIdentifier(first)) return "setTimeout(NAME)";
  const program = first !== undefined && isArrayLiteralExpression(first) ? first.elements[0] : first;
  if (name !== "spawnSync" || program === undefined || !isStringLiteral(program)) return undefined;
  return program.text === "sleep" ? "a program that sleeps" : undefined;
}

function isInPromise(node: Node): boolean {
  for (let at: Node | undefined = node; at !== undefined; at = at.parent)
    if (isNewExpression(at) && isIdentifier(at.expression) && at.expression.text === "Promise") return true;
  return false;
}

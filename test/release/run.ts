import { join } from "node:path";
import { compiledProgram } from "../sidecars/compile.ts";
import { programsOf } from "../sidecars/programs.ts";

const HELP = `npm run test:release -- [WORD...]
  compiles Helm 3 and 4 and Kustomize, once, and runs the tests of a release, or \`bun test WORD...\`
  bun test/release/cluster/run.ts [WORD...]  runs those that need a Kubernetes alone`;

const [, , ...words] = process.argv;
process.exit(words[0] === "--help" ? (console.log(HELP) ?? 0) : await main());

async function main(): Promise<number> {
  for (const name of programsOf("release")) compiledProgram(name);
  if (words.length > 0) return await bun("test", "--timeout", "600000", ...words);
  const apart = ["--path-ignore-patterns", "test/release/cluster/**"];
  const codes = [
    await bun("test", "--timeout", "600000", "test/release", ...apart),
    await bun("test/release/cluster/run.ts"),
  ];
  return Math.max(...codes);
}

async function bun(...args: readonly string[]): Promise<number> {
  const cwd = join(import.meta.dirname, "..", "..");
  return await Bun.spawn([process.execPath, ...args], { cwd, stdio: ["inherit", "inherit", "inherit"] }).exited;
}

import { aptInstall, isInstalled, releasePackages } from "../../build/setup/packages.mjs";
import { compiledProgram } from "../sidecars/compile.ts";
import { programsOf } from "../sidecars/programs.ts";
import { runHere, runTask } from "../task.ts";

const HELP = `npm run test:release -- [WORD...]
  compiles cosign, Helm 3 and 4, Kustomize, actionlint and containerd, once, and runs the tests of a release, or \`bun test WORD...\`
  bun test/release/cluster/run.ts [WORD...]  runs those that need a Kubernetes alone
  the first time it downloads Go modules and compiles for 10 minutes on two cores`;

const [, , ...words] = process.argv;

await runTask("test:release", main);

async function main(): Promise<number> {
  if (words[0] === "--help") return console.log(HELP) ?? 0;
  const missing = releasePackages.filter(({ check }) => !isInstalled(check)).map(({ name }) => name);
  if (missing.length > 0) throw new Error(`run: ${aptInstall(missing).join(" ")}`);
  for (const name of programsOf("release")) compiledProgram(name);
  if (words.length > 0) return await bun("test", "--timeout", "600000", ...words);
  const apart = ["--path-ignore-patterns", "test/release/cluster/**"];
  const codes = [
    await bun("test", "--timeout", "600000", "test/release", ...apart),
    await bun("test/release/cluster/run.ts"),
  ];
  return Math.max(...codes);
}

function bun(...args: readonly string[]): Promise<number> {
  return runHere([process.execPath, ...args]);
}

import { resolve } from "node:path";
import { aptInstall, isInstalled, releasePackages } from "../../build/setup/packages.mjs";
import { runHere, runTask } from "../harness/task.ts";
import { compiledProgram } from "../sidecars/compile.ts";
import { programsOf } from "../sidecars/programs.ts";

const HELP = `npm run test:release -- [WORD...]
  compiles cosign, Helm 3 and 4, Kustomize, Kyverno, actionlint and containerd, once, and runs the tests of a release, or \`bun test WORD...\`
  runs the tests of the commands for a desk, too, with a desk build for this machine
  bun test/release/cluster/run.ts [WORD...]  runs those that need a Kubernetes alone
  the first time it downloads Go modules and compiles for 16 minutes on two cores`;

/** The tests of the commands that need no pod. test/binary/cluster/inject-sidecars.test.ts runs what it injects. */
const deskTests = [
  ...["inject", "inject-files", "doctor", "kubectl", "manifests", "exec-plugin", "reaper-once"].map(
    (name) => `test/binary/cluster/${name}.test.ts`,
  ),
  ...["help", "completion", "timeline"].map((name) => `test/binary/commands/${name}.test.ts`),
  ...["test/attacks/text/timeline.test.ts", "test/image"],
];

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
    await testDesk(),
    await bun("test/release/cluster/run.ts"),
  ];
  return Math.max(...codes);
}

/** Runs the tests of a desk's commands with the desk build for this machine. */
async function testDesk(): Promise<number> {
  const EBB = resolve(import.meta.dirname, "../../dist/ebb-desk");
  const code = await bun("build/build.ts", "--target", "desk", "--outfile", EBB);
  if (code !== 0) return code;
  return await runHere(
    [process.execPath, "test", "--timeout", "120000", "--parallel=4", "--no-isolate", ...deskTests],
    { EBB },
  );
}

function bun(...args: readonly string[]): Promise<number> {
  return runHere([process.execPath, ...args]);
}

import { join } from "node:path";
import { aptInstall, isInstalled, releasePackages } from "../../build/setup/packages.mjs";
import { compiledProgram } from "../sidecars/compile.ts";
import { programsOf } from "../sidecars/programs.ts";

const HELP = `npm run test:release -- [WORD...]
  compiles cosign, helm and actionlint, once, and runs the tests of a release, or \`bun test WORD...\`
  the first time it downloads Go modules and compiles for 5 minutes on two cores`;

const [, , ...words] = process.argv;

try {
  process.exit(await main());
} catch (error) {
  console.error(`test:release: ${error instanceof Error ? error.message : error}`);
  process.exit(1);
}

async function main(): Promise<number> {
  if (words[0] === "--help") return console.log(HELP) ?? 0;
  const missing = releasePackages.filter(({ check }) => !isInstalled(check)).map(({ name }) => name);
  if (missing.length > 0) throw new Error(`run: ${aptInstall(missing).join(" ")}`);
  for (const name of programsOf("release")) compiledProgram(name);
  const tests = words.length > 0 ? words : ["test/release"];
  const command = [process.execPath, "test", "--timeout", "60000", ...tests];
  return await Bun.spawn(command, {
    cwd: join(import.meta.dirname, "..", ".."),
    stdio: ["inherit", "inherit", "inherit"],
  }).exited;
}

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { envoyMissing, envoyPath } from "../../build/setup/envoy.mjs";
import { aptInstall, isInstalled, sidecarPackages } from "../../build/setup/packages.mjs";
import { ebbPath } from "../harness/ebb.ts";
import { runHere, runTask } from "../harness/task.ts";
import { compiledProgram } from "./compile.ts";
import { programsOf } from "./programs.ts";

const HELP = `npm run test:sidecars -- [WORD...]
  compiles the real sidecars, once, and runs the tests against them, or \`bun test WORD...\`
  needs root, for networks of their own; the first time it downloads Go modules and compiles for 10 minutes on two cores`;

const [, , ...words] = process.argv;

/**
 * Makes the namespaces. unshare ends with this process; with PID 1, which reaps, all ends that the tests have started.
 */
const enter = [
  ...["setpriv", "--pdeathsig", "KILL"],
  ...["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"],
  ...[ebbPath, "run", "--sidecar", "none", "--quiet", "--"],
];

await runTask("test:sidecars", main);

async function main(): Promise<number> {
  if (words[0] === "--help") return console.log(HELP) ?? 0;
  const lacking = obstacle();
  if (lacking !== undefined) throw new Error(`the real sidecars cannot be run here: ${lacking}`);
  for (const name of programsOf("sidecars")) compiledProgram(name);
  const tests = words.length > 0 ? words : ["test/sidecars"];
  const command = [process.execPath, "test", "--timeout", "60000", "--concurrent", "--max-concurrency", "3", ...tests];
  const inside = [process.execPath, join(import.meta.dirname, "inside.ts"), ...command];
  return await runHere([...enter, ...inside]);
}

function obstacle(): string | undefined {
  if (process.getuid?.() !== 0) return "that needs root";
  if (envoyPath() === undefined) return envoyMissing;
  const missing = sidecarPackages.filter(({ check }) => !isInstalled(check)).map(({ name }) => name);
  if (missing.length > 0) return `run: ${aptInstall(missing).join(" ")}`;
  const { status, stderr } = spawnSync("unshare", ["--net", "--pid", "--fork", "true"], { encoding: "utf8" });
  return status === 0 ? undefined : stderr;
}

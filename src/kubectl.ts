import type { Plugin } from "./cluster/kubectl/plugin.ts";
import type { Command } from "./command.ts";
import { invoke } from "./invoke.ts";
import { HelpAsked } from "./shared/cli/core/arguments.ts";
import { EXIT } from "./shared/core/exit.ts";
import { writeOutput } from "./shared/output/output.ts";
import type { Signals } from "./shared/process/signals.ts";

type Commands = Readonly<Record<string, Command>>;

/** What users type for the executable under the name kubectl-ebb. */
const PLUGIN = "kubectl ebb";

/** Runs `kubectl ebb WORD...`. Resolves to the exit code. @throws Failure for an expected failure */
export async function runPlugin(words: readonly string[], commands: Commands, signals: Signals): Promise<number> {
  const [name = "--help", ...args] = words;
  const plugin = await load(commands);
  if (name === "--help" || name === "-h") {
    const { lookAt, writeHelp } = await import("./help.ts");
    await writeHelp(plugin.help(lookAt(process.env)));
    return EXIT.ok;
  }
  if (name === "help") {
    await (await import("./help.ts")).showPage(args[0] ?? "kubectl", commands, process.env);
    return EXIT.ok;
  }
  const command = plugin.command(name);
  try {
    return await invoke(command, { args, argvIndex: undefined, env: process.env, signals });
  } catch (error) {
    if (!(error instanceof HelpAsked)) throw error;
    const { showCommand } = await import("./help.ts");
    await showCommand(name, command, { isShort: error.isShort, env: process.env, program: PLUGIN });
    return EXIT.ok;
  }
}

/** Answers kubectl_complete-ebb. */
export async function completePlugin(words: readonly string[], commands: Commands): Promise<number> {
  const plugin = await load(commands);
  await writeOutput(await plugin.complete(words, process.env));
  return EXIT.ok;
}

async function load(commands: Commands): Promise<Plugin> {
  const { createPlugin } = await import("./cluster/kubectl/plugin.ts");
  return createPlugin(PLUGIN, commands);
}

import type { Plugin } from "./cluster/kubectl/plugin.ts";
import type { Command } from "./command.ts";
import { invoke } from "./invoke.ts";
import { HelpAsked } from "./shared/cli/core/arguments.ts";
import { describeCommand } from "./shared/cli/core/help.ts";
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
  if (name === "--help" || name === "-h") return await write(plugin.help);
  if (name === "help") {
    await (await import("./help.ts")).showPage(args[0] ?? "kubectl", commands, process.env);
    return EXIT.ok;
  }
  const command = plugin.command(name);
  try {
    return await invoke(command, { args, argvIndex: undefined, env: process.env, signals });
  } catch (error) {
    if (!(error instanceof HelpAsked)) throw error;
    const { readPages, withPage } = await import("./help.ts");
    return await write(
      describeCommand(withPage(name, command, await readPages()), process.stdout.columns || 80, PLUGIN),
    );
  }
}

/** Answers kubectl_complete-ebb. */
export async function completePlugin(words: readonly string[], commands: Commands): Promise<number> {
  const plugin = await load(commands);
  return await write(await plugin.complete(words, process.env));
}

async function load(commands: Commands): Promise<Plugin> {
  const { createPlugin } = await import("./cluster/kubectl/plugin.ts");
  return createPlugin(PLUGIN, commands);
}

async function write(text: string): Promise<number> {
  await writeOutput(text);
  return EXIT.ok;
}

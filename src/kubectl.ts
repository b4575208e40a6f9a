import { createPlugin } from "./cluster/kubectl/plugin.ts";
import { commands } from "./commands.ts";
import { lookAt, showCommand, showPage, writeHelp } from "./help.ts";
import { invoke } from "./invoke.ts";
import { HelpAsked } from "./shared/cli/core/arguments.ts";
import type { PluginWords } from "./shared/cli/core/resolve.ts";
import { EXIT } from "./shared/core/exit.ts";
import { writeOutput } from "./shared/output/output.ts";
import type { Signals } from "./shared/process/signals.ts";

/** What users type for the executable under the name kubectl-ebb. */
const PLUGIN = "kubectl ebb";

/**
 * Runs `kubectl ebb WORD...`, or answers kubectl_complete-ebb. Resolves to the exit code. @throws Failure for an expected
 * failure
 */
export async function runPlugin({ words, completes }: PluginWords, signals: Signals): Promise<number> {
  const { env } = process;
  const plugin = createPlugin(PLUGIN, commands);
  if (completes) {
    await writeOutput(await plugin.complete(words, env));
    return EXIT.ok;
  }
  const [name = "--help", ...args] = words;
  if (name === "--help" || name === "-h") return await writeHelp(plugin.help(lookAt(env)));
  if (name === "help") return await showPage(args[0] ?? "kubectl", env);
  const command = plugin.command(name);
  try {
    return await invoke(command, { args, argvIndex: undefined, env, signals });
  } catch (error) {
    if (!(error instanceof HelpAsked)) throw error;
    return await showCommand(name, command, { isShort: error.isShort, env, program: PLUGIN });
  }
}

import type { Command, Invocation } from "../command.ts";
import { redactUrls } from "../core/base/redact.ts";
import { readOperandCall } from "../core/cli/call.ts";
import type { Shell } from "../core/cli/completion/completion.ts";
import { EXIT, Failure } from "../core/run/exit.ts";
import { writeOutput } from "../system/output/output.ts";

const shells: readonly Shell[] = ["bash", "zsh", "fish"];

/** `ebb completion bash|zsh|fish` prints the script that completes ebb's command lines in that shell. */
export const command: Command = {
  summary: "print the completion script of a shell",
  usage: "completion bash|zsh|fish",
  options: {},
  operands: shells,
  main,
};

async function main({ args, env, commands = {} }: Invocation): Promise<number> {
  const call = readOperandCall(command.options, { args, env });
  const [given = "", ...more] = [...call.operands, ...call.command];
  const shell = shells.find((name) => name === given);
  if (shell === undefined || more.length > 0) {
    const words = JSON.stringify(redactUrls([given, ...more].join(" ")));
    throw new Failure(EXIT.usage, `completion: expected one of ${shells.join(", ")}, got ${words}`);
  }
  const { completionScript } = await import("../core/cli/completion/completion.ts"); // 15 kB that no other start needs
  await writeOutput(completionScript(shell, commands));
  return EXIT.ok;
}

import type { Command, Invocation } from "../command.ts";
import { readOperandCall } from "../core/call.ts";
import { completionScript, shells } from "../core/completion.ts";
import { EXIT, Failure } from "../core/exit.ts";
import { writeOutput } from "../system/output.ts";

/** `ebb completion bash|zsh|fish`: the script that completes ebb's command lines in that shell. */
export const command: Command = {
  summary: "print the completion script of a shell",
  usage: "completion bash|zsh|fish",
  options: {},
  operands: shells,
  main,
};

async function main({ args, env, commands }: Invocation): Promise<number> {
  const call = readOperandCall(command.options, args, env);
  const [given = "", ...more] = [...call.operands, ...call.command];
  const shell = shells.find((name) => name === given);
  if (shell === undefined || more.length > 0) {
    const words = JSON.stringify([given, ...more].join(" "));
    throw new Failure(EXIT.usage, `completion: expected one of ${shells.join(", ")}, got ${words}`);
  }
  writeOutput(completionScript(shell, commands));
  return EXIT.ok;
}

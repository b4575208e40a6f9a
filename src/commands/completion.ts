import type { Command, Invocation } from "../command.ts";
import { readOperandCall } from "../shared/cli/core/call.ts";
import { completionScripts } from "../shared/cli/core/completion-scripts.ts";
import { EXIT, Failure } from "../shared/core/exit.ts";
import { redactUrls } from "../shared/core/redact.ts";
import { writeOutput } from "../shared/output/output.ts";

const shells = Object.keys(completionScripts) as readonly (keyof typeof completionScripts)[];

/** `ebb completion bash|zsh|fish` prints the script that completes ebb's command lines in that shell. */
export const command: Command = {
  summary: "print the completion script for a shell",
  usage: "completion bash|zsh|fish",
  about:
    "Prints a script for a shell that completes commands, flags, their values, files, and the command line after --.",
  page: "options",
  examples: [
    {
      call: "ebb completion bash > /etc/bash_completion.d/ebb",
      why: "bash, for all users. For this shell only: source <(ebb completion bash)",
    },
    {
      call: "ebb completion zsh > ~/.zfunc/_ebb",
      why: "zsh, in any folder of $fpath. For this shell only: source <(ebb completion zsh)",
    },
    {
      call: "ebb completion fish > ~/.config/fish/completions/ebb.fish",
      why: "fish. For this shell only: ebb completion fish | source",
    },
  ],
  exits: [
    ["0", "the script was printed"],
    ["64", "no such shell"],
  ],
  seeAlso: ["config"],
  options: {},
  operands: shells,
  main,
};

async function main({ args, env }: Invocation): Promise<number> {
  const call = readOperandCall(command.options, { args, env });
  const [given = "", ...more] = [...call.operands, ...call.command];
  const shell = shells.find((name) => name === given);
  if (shell === undefined || more.length > 0) {
    const words = JSON.stringify(redactUrls([given, ...more].join(" ")));
    throw new Failure(EXIT.usage, `completion: expected one of ${shells.join(", ")}, got ${words}`);
  }
  await writeOutput(completionScripts[shell]);
  return EXIT.ok;
}

import { badCall, type Command, type Invocation } from "../command.ts";
import { readOperandCall } from "../shared/cli/core/call.ts";
import { optional } from "../shared/cli/core/option.ts";
import { anyText } from "../shared/cli/core/syntax.ts";

const svg = optional({
  flag: "svg",
  group: "output",
  value: "FILE",
  syntax: anyText,
  isFlagOnly: true,
  secret: false,
  help: "also write the timeline to FILE, as an SVG for light and dark pages",
});

/** `ebb timeline` draws what the logs of ebb in pods have: a row for each container. */
export const command: Command = {
  summary: "draw a rollout, or the life of a Job, from the logs of its pods",
  usage: "timeline [--svg FILE] [FILE...]",
  examples: [
    {
      call: "kubectl logs -l app=web --all-containers --prefix --tail=-1 | ebb timeline",
      why: "The pods that exist now. Without --tail=-1, kubectl prints ten lines of each; --since=10m limits the time.",
    },
    {
      call: "stern -l app=web | ebb timeline --svg rollout.svg",
      why: "A rollout, from before it begins until Ctrl-C: when a pod is deleted, so is its log.",
    },
    { call: "ebb timeline web-1.log web-2.log", why: "Files without prefixes, one for each container." },
  ],
  exits: [
    ["0", "drawn"],
    badCall,
    ["65", "no line is from ebb run or ebb drain"],
    ["71", "a file cannot be read or written"],
  ],
  seeAlso: ["run", "drain", "status"],
  options: { svg },
  operands: "files",
  main,
};

async function main({ args, env, signals }: Invocation): Promise<number> {
  const { values, operands, command: rest } = readOperandCall({ svg }, { args, env });
  const { showTimeline } = await import("../cluster/timeline/timeline.ts");
  return await showTimeline([...operands, ...rest], values.svg, { env, signals });
}

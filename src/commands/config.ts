import type { Command, Invocation } from "../command.ts";
import { readAnnotations } from "../pod/find/annotations.ts";
import { stopSteps } from "../pod/run/core/stop-plan.ts";
import { readFlagCall } from "../shared/cli/core/call.ts";
import { options } from "../shared/cli/core/options.ts";
import { columns } from "../shared/core/columns.ts";
import { EXIT } from "../shared/core/exit.ts";
import { writeError, writeOutput } from "../shared/output/output.ts";
import { unknownVariables } from "../unknown-variables.ts";

/** `ebb config` prints the effective configuration, for people or, with --json, for programs. */
export const command: Command = {
  summary: "show each option's value and where it comes from",
  usage: "config [flags]",
  about:
    "Shows each option's value and where it comes from: a flag, a variable, or the default; and what follows for the stop of ebb run. It reports every bad value, and warns about EBB_ variables that set no option.",
  page: "options",
  examples: [
    { call: "ebb config", why: "With kubectl exec: the options of this container." },
    { call: "ebb config --json --wait-timeout 90s", why: "For scripts, with a flag to try." },
  ],
  exits: [
    ["0", "all values are valid"],
    ["64", "a value is bad; stderr says which"],
  ],
  seeAlso: ["run"],
  options,
  main,
};

async function main({ args, env }: Invocation): Promise<number> {
  const call = readFlagCall(options, { args, env }, command.usage);
  for (const { variable, didYouMean } of unknownVariables(options, env)) {
    const hint = didYouMean === undefined ? "" : `; did you mean ${didYouMean}?`;
    writeError(`ebb: warning: ignored ${variable}: ebb reads no such variable${hint}\n`);
  }
  const rows = Object.entries(options)
    .filter(([key]) => key !== "json")
    .map(([key, { flag, initially, shown }]) => {
      const origin = call.origins[key as keyof typeof options];
      const texts = call.texts[key as keyof typeof options].map(shown);
      return { flag, value: texts.join(" ") || `(${initially || "unset"})`, origin, texts };
    });
  const steps = stopSteps(call.values, readAnnotations(call.values.podAnnotations));
  if (call.values.json) {
    const entries = rows.map(({ flag, texts, origin }) => [flag, { values: texts, origin }]);
    entries.push(["stop", { values: [...steps], origin: "planned" }]);
    await writeOutput(`${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
    return EXIT.ok;
  }
  const lines = columns(rows.map(({ flag, value, origin }) => [flag, value, origin]));
  await writeOutput(`${lines.join("\n")}\n\nstop: ${steps.join("; ")}\n`);
  return EXIT.ok;
}

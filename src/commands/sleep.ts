import type { Command, Invocation } from "../command.ts";
import { readOperandCall } from "../shared/cli/core/call.ts";
import { parseDuration } from "../shared/core/duration.ts";
import { EXIT, Failure } from "../shared/core/exit.ts";
import { redactUrls } from "../shared/core/redact.ts";
import { deadline } from "../shared/io/timer.ts";
import { onStop } from "../shared/process/stop.ts";

/**
 * `ebb sleep DURATION` waits, for preStop hooks of images that have no sleep. Stop signal n ends it with exit code
 * 128+n.
 */
export const command: Command = {
  summary: "wait for a fixed time (for preStop hooks)",
  usage: "sleep DURATION",
  about:
    "Waits for a fixed time, for preStop hooks in images that have no sleep. The app goes on serving while the pod is removed from the endpoints. A stop signal ends the wait.",
  page: "wait",
  examples: [{ call: "ebb sleep 5s", why: 'As preStop hook: exec: { command: ["/ebb", "sleep", "5s"] }.' }],
  exits: [
    ["0", "the time is over"],
    ["128+n", "signal n ended it"],
    ["64", "not a duration"],
  ],
  seeAlso: ["drain", "run"],
  options: {},
  main,
};

async function main({ args, env, signals }: Invocation): Promise<number> {
  const { operands, command: words } = readOperandCall(command.options, { args, env });
  const [given = "", ...more] = [...operands, ...words];
  const ms = parseDuration(given);
  if (ms === undefined || more.length > 0) {
    throw new Failure(
      EXIT.usage,
      `sleep: expected one duration such as 5s, got ${JSON.stringify(redactUrls([given, ...more].join(" ")))}`,
    );
  }
  const { promise, resolve } = Promise.withResolvers<number>();
  onStop(signals, (signal) => resolve(128 + signal));
  if (ms === 0)
    resolve(EXIT.ok); // a timer would take a millisecond
  else deadline(ms, () => resolve(EXIT.ok));
  return promise;
}

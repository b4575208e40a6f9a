import { HelpAsked } from "../shared/cli/core/arguments.ts";
import { type Call, readCommandCall, readOperandCall } from "../shared/cli/core/call.ts";
import { headersOfFlag } from "../shared/cli/core/options/sidecars.ts";
import { options } from "../shared/cli/core/options.ts";
import { resolveCommand } from "../shared/cli/core/resolve.ts";
import type { Environment } from "../shared/core/environment.ts";
import { Failure } from "../shared/core/exit.ts";
import { baseName } from "../shared/core/text.ts";
import { type Probe, parseTarget, withHeaders } from "../shared/sidecars/core/probe.ts";
import { compatTools } from "./tools.ts";

/** A call of ebb that waits for sidecars: `ebb run`, `ebb wait`, or another tool's that means one of them. */
interface WaitingCall extends Pick<Call<typeof options>, "values" | "origins"> {
  /** What `ebb wait` waits for beside the sidecars. */
  readonly targets: readonly Probe[];
}

/**
 * Reads the command line of an ebb, with its own name as the first word. Returns undefined if it waits for no sidecar,
 * or is not valid.
 */
export function readWaitingCall(
  [program = "", ...words]: readonly string[],
  env: Environment,
): WaitingCall | undefined {
  const meant = resolveCommand(words, baseName(program));
  const tool = meant.kind === "tool" ? compatTools[meant.name]?.translate(meant.args, env) : undefined;
  const call =
    tool ?? (meant.kind === "command" ? { command: meant.name, args: meant.args, compat: undefined } : undefined);
  if (call === undefined || (call.command !== "run" && call.command !== "wait")) return undefined;
  const read = call.command === "run" ? readCommandCall : readOperandCall;
  try {
    const { values, origins, operands } = read(options, { args: call.args, env, compat: call.compat });
    const headers = headersOfFlag({ values, origins });
    const targets = call.command === "run" ? [] : operands.flatMap((text) => parseTarget(text) ?? []);
    return { values, origins, targets: targets.map((target) => withHeaders(target, headers)) };
  } catch (error) {
    if (error instanceof HelpAsked || error instanceof Failure) return undefined;
    throw error;
  }
}

import type { CallContext } from "./shared/cli/core/call.ts";
import { options } from "./shared/cli/core/options.ts";
import type { Environment } from "./shared/core/environment.ts";
import { createLog, type Fields, type Log, type LogSettings } from "./shared/output/log.ts";
import { unknownVariables } from "./unknown-variables.ts";

/** Creates the log of a command. First it has the notes of `compat`, and warns about `EBB_` variables that no option has. */
export function beginLog(
  settings: LogSettings,
  { env, compat }: Pick<CallContext, "env" | "compat">,
  other?: (text: string) => void,
): Log {
  const log = createLog(settings, env, other);
  for (const { fields, message } of compat?.notes ?? []) log.warn(fields, message);
  for (const fields of unknownIn(env)) log.warn(fields, "ignored an unknown variable");
  return log;
}

const MOST_UNKNOWN = 20;

/** The fields of the warnings about unknown variables: one for each, and beyond the most one for all others. */
function unknownIn(env: Environment): readonly Fields[] {
  const unknown = unknownVariables(options, env);
  const others = unknown.length - MOST_UNKNOWN;
  return others > 0 ? [...unknown.slice(0, MOST_UNKNOWN), { others }] : unknown;
}

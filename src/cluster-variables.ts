import { doctorOptions } from "./cluster/doctor/core/doctor-options.ts";
import { imageOptions } from "./cluster/image/core/registry-options.ts";
import { reaperOptions } from "./cluster/reaper/core/reaper-options.ts";
import { webhookOptions } from "./cluster/webhook/core/webhook-options.ts";
import type { Options } from "./shared/cli/core/option.ts";
import { options } from "./shared/cli/core/options.ts";

/**
 * Returns the variables that only commands for the cluster read. Bun runs it while it bundles: the executable has the
 * list alone, so that the commands of a pod do not load the declarations.
 */
export function clusterVariables(): readonly string[] {
  const common = variablesOf(options);
  const all = [webhookOptions, reaperOptions, imageOptions, doctorOptions].flatMap(variablesOf);
  return [...new Set(all)].filter((name) => !common.includes(name));
}

function variablesOf(all: Options): readonly string[] {
  return Object.values(all).flatMap(({ variables }) => variables.map(({ name }) => name));
}

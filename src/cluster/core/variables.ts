import type { Options } from "../../shared/cli/core/option.ts";
import { options } from "../../shared/cli/core/options.ts";
import { doctorOptions } from "../doctor/core/doctor-options.ts";
import { imageOptions } from "../image/core/registry-options.ts";
import { reaperOptions } from "../reaper/core/reaper-options.ts";
import { webhookOptions } from "../webhook/core/webhook-options.ts";

/** Returns the variables that only commands for the cluster read. */
export function clusterVariables(): readonly string[] {
  const common = variablesOf(options);
  const all = [webhookOptions, reaperOptions, imageOptions, doctorOptions].flatMap(variablesOf);
  return [...new Set(all)].filter((name) => !common.includes(name));
}

function variablesOf(all: Options): readonly string[] {
  return Object.values(all).flatMap(({ variables }) => variables.map(({ name }) => name));
}

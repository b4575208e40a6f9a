import type { Environment } from "../shared/core/environment.ts";
import { addAdmin, isLocal } from "./envoy-admin.ts";
import { type CompatTool, SettingsBuilder, type Translation, wholeCommandLine } from "./tool.ts";
import { Variables } from "./variables.ts";

/** Translates monzo/envoy-preflight (main.go). */
export const envoyPreflight: CompatTool = {
  usage: "CMD ARG...",
  about:
    "Waits until Envoy is LIVE, runs the command, shuts down Envoy if the command succeeded, and exits with the command's exit code. This is `ebb run`, configured by envoy-preflight's variables.",
  takes: ["ENVOY_ADMIN_API", "ENVOY_KILL_API", "NEVER_KILL_ENVOY", "ALWAYS_KILL_ENVOY", "START_WITHOUT_ENVOY"],
  translate,
};

const idle = envoyPreflight.takes.slice(1);

function translate(args: readonly string[], env: Environment): Translation {
  const builder = new SettingsBuilder();
  const variables = new Variables(env, builder);
  const admin = addAdmin("envoy", { variables, builder, idle });
  if (admin !== undefined) {
    builder.add("wait-timeout", "envoy-preflight", "0");
    const isNever = variables.isTrue("NEVER_KILL_ENVOY");
    const isAlways = variables.isTrue("ALWAYS_KILL_ENVOY");
    if (!isLocal(admin)) builder.add("quit-on", "ENVOY_ADMIN_API", "never");
    else if (isNever) builder.add("quit-on", "NEVER_KILL_ENVOY", "never");
    else builder.add("quit-on", isAlways ? "ALWAYS_KILL_ENVOY" : "envoy-preflight", isAlways ? "always" : "success");
    const quit = variables.url("ENVOY_KILL_API");
    if (quit !== undefined) builder.add("quit", "ENVOY_KILL_API", quit);
  }
  builder.add("log-level", "envoy-preflight", "warn");
  if (args.length === 0) builder.refuse("envoy-preflight: expected a command; usage: envoy-preflight CMD ARG...");
  return { command: "run", ...wholeCommandLine(args), compat: builder.compat };
}

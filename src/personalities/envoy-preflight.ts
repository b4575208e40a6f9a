import type { Environment } from "../core/base/environment.ts";
import { isLocal, sayAdmin } from "./envoy-admin.ts";
import { type Personality, type Translation, wholeCommandLine } from "./personality.ts";
import { createSaying } from "./saying.ts";
import { readVariables } from "./variables.ts";

/** monzo/envoy-preflight (main.go). */
export const envoyPreflight: Personality = {
  usage: "CMD ARG...",
  about:
    "Waits until Envoy is LIVE, runs the command, tells Envoy to quit if it went well, and exits with the command's code: `ebb run`, told by envoy-preflight's variables.",
  takes: ["ENVOY_ADMIN_API", "ENVOY_KILL_API", "NEVER_KILL_ENVOY", "ALWAYS_KILL_ENVOY", "START_WITHOUT_ENVOY"],
  translate,
};

const idle = envoyPreflight.takes.slice(1);

function translate(args: readonly string[], env: Environment): Translation {
  const saying = createSaying();
  const variables = readVariables(env, saying);
  const admin = sayAdmin("envoy", { variables, saying, idle });
  if (admin !== undefined) {
    saying.say("wait-timeout", "envoy-preflight", "0");
    const isNever = variables.isTrue("NEVER_KILL_ENVOY");
    const isAlways = variables.isTrue("ALWAYS_KILL_ENVOY");
    if (!isLocal(admin)) saying.say("quit-on", "ENVOY_ADMIN_API", "never");
    else if (isNever) saying.say("quit-on", "NEVER_KILL_ENVOY", "never");
    else saying.say("quit-on", isAlways ? "ALWAYS_KILL_ENVOY" : "envoy-preflight", isAlways ? "always" : "success");
    const quit = variables.url("ENVOY_KILL_API");
    if (quit !== undefined) saying.say("quit", "ENVOY_KILL_API", quit);
  }
  saying.say("log-level", "envoy-preflight", "warn");
  if (args.length === 0) saying.refuse("envoy-preflight: expected a command; usage: envoy-preflight CMD ARG...");
  return { command: "run", ...wholeCommandLine(args), said: saying.said };
}

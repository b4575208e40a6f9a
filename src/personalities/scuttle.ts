import { exactUrl, withoutSlashes } from "../core/base/address.ts";
import type { Environment } from "../core/base/environment.ts";
import { formatHostPort } from "../core/base/host-port.ts";
import { type EnvoyAdmin, isLocal, sayAdmin } from "./envoy-admin.ts";
import { type Personality, type Translation, wholeCommandLine } from "./personality.ts";
import { createSaying, type Saying } from "./saying.ts";
import { readVariables, type Variables } from "./variables.ts";

/** kvij/scuttle (scuttle_config.go, main.go) and redboxllc/scuttle, whose variables it has taken over. */
export const scuttle: Personality = {
  usage: "CMD ARG...",
  about:
    "Waits until Envoy is LIVE, runs the command, tells Istio to quit, and exits with the command's code: `ebb run`, told by scuttle's variables.",
  takes: [
    "ENVOY_ADMIN_API",
    "START_WITHOUT_ENVOY",
    "WAIT_FOR_ENVOY_TIMEOUT",
    "QUIT_WITHOUT_ENVOY_TIMEOUT",
    "ISTIO_QUIT_API",
    "ISTIO_FALLBACK_PKILL",
    "NEVER_KILL_ISTIO",
    "NEVER_KILL_ISTIO_ON_FAILURE",
    "GENERIC_QUIT_ENDPOINTS",
    "GENERIC_QUIT_ONLY",
    "QUIT_REQUEST_TIMEOUT",
    "SCUTTLE_LOGGING",
  ],
  translate,
};

/** What says how to wait and to quit; without an Envoy it says nothing. */
const idle = scuttle.takes.filter(
  (name) => !["ENVOY_ADMIN_API", "QUIT_REQUEST_TIMEOUT", "SCUTTLE_LOGGING"].includes(name),
);

interface Call {
  readonly variables: Variables;
  readonly saying: Saying;
}

function translate(args: readonly string[], env: Environment): Translation {
  const saying = createSaying();
  const variables = readVariables(env, saying);
  const call = { variables, saying };
  const isGenericOnly = variables.isTrue("GENERIC_QUIT_ONLY");
  const without = isGenericOnly ? idle.filter((name) => !name.startsWith("GENERIC_")) : idle;
  const admin = sayAdmin("istio", { ...call, idle: without });
  if (admin !== undefined) sayWait(call);
  if (isGenericOnly) sayGenericOnly(call);
  else if (admin !== undefined) sayQuits(admin, call);
  const quitTimeout = variables.time("QUIT_REQUEST_TIMEOUT");
  if (quitTimeout !== undefined) saying.say("quit-timeout", "QUIT_REQUEST_TIMEOUT", quitTimeout);
  const isLogging = variables.text("SCUTTLE_LOGGING") === undefined || variables.isTrue("SCUTTLE_LOGGING");
  saying.say("log-level", "SCUTTLE_LOGGING", isLogging ? "info" : "error");
  if (args.length === 0) saying.refuse("scuttle: expected a command; usage: scuttle CMD ARG...");
  return { command: "run", ...wholeCommandLine(args), said: saying.said };
}

/** QUIT_WITHOUT_ENVOY_TIMEOUT wins; without either it is for ever. */
function sayWait({ variables, saying }: Call): void {
  const ending = variables.time("QUIT_WITHOUT_ENVOY_TIMEOUT");
  const starting = variables.time("WAIT_FOR_ENVOY_TIMEOUT");
  const origin = ending === undefined ? "WAIT_FOR_ENVOY_TIMEOUT" : "QUIT_WITHOUT_ENVOY_TIMEOUT";
  const time = ending ?? starting;
  saying.say("wait-timeout", time === undefined ? "scuttle" : origin, time ?? "0");
  if (time !== undefined) saying.say("on-wait-timeout", origin, ending === undefined ? "start" : "fail");
}

/** These alone, whatever else is said: also where there is no Envoy. */
function sayGenericOnly({ variables, saying }: Call): void {
  saying.say("quit", "GENERIC_QUIT_ONLY", "none");
  for (const url of variables.urls("GENERIC_QUIT_ENDPOINTS")) saying.say("quit", "GENERIC_QUIT_ENDPOINTS", `+${url}`);
}

function sayQuits(admin: EnvoyAdmin, { variables, saying }: Call): void {
  const isNever = variables.isTrue("NEVER_KILL_ISTIO");
  const isNeverOnFailure = variables.isTrue("NEVER_KILL_ISTIO_ON_FAILURE");
  if (!isLocal(admin)) saying.say("quit-on", "ENVOY_ADMIN_API", "never");
  else if (isNever) saying.say("quit-on", "NEVER_KILL_ISTIO", "never");
  else if (isNeverOnFailure) saying.say("quit-on", "NEVER_KILL_ISTIO_ON_FAILURE", "success");
  for (const url of variables.urls("GENERIC_QUIT_ENDPOINTS")) saying.say("quit", "GENERIC_QUIT_ENDPOINTS", `+${url}`);
  const given = variables.base("ISTIO_QUIT_API");
  const base = given ?? agentBeside(admin);
  if (base !== undefined)
    saying.say("quit", given === undefined ? "ENVOY_ADMIN_API" : "ISTIO_QUIT_API", `${base}/quitquitquit`);
  if (variables.isTrue("ISTIO_FALLBACK_PKILL")) saying.say("signal-process", "ISTIO_FALLBACK_PKILL", "+pilot-agent");
  else if (given === undefined) saying.say("signal-process", "no ISTIO_QUIT_API", "+pilot-agent");
}

/** ENVOY_ADMIN_API with pilot-agent's port where it has Istio's Envoy's, 15000 (replacePort in scuttle_config.go); any other Envoy is told itself. */
function agentBeside({ url, target }: EnvoyAdmin): string | undefined {
  if (target.address.kind !== "tcp") return undefined;
  const { host, port } = target.address;
  if (port !== 15_000) return url;
  return withoutSlashes(exactUrl({ ...target, authority: formatHostPort(host, 15_020) }));
}

import { exactUrl, withoutSlashes } from "../shared/core/address.ts";
import type { Environment } from "../shared/core/environment.ts";
import { formatHostPort } from "../shared/core/host-port.ts";
import { type AdminUrl, addAdmin, isLocal } from "./envoy-admin.ts";
import { type CompatTool, SettingsBuilder, type Translation, wholeCommandLine } from "./tool.ts";
import { Variables } from "./variables.ts";

/** Translates kvij/scuttle (scuttle_config.go, main.go), which has the variables of redboxllc/scuttle. */
export const scuttle: CompatTool = {
  usage: "CMD ARG...",
  about:
    "Waits until Envoy is LIVE, runs the command, shuts down Istio's proxy, and exits with the command's exit code. This is `ebb run`, configured by scuttle's variables.",
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

/** The variables that say how to wait and to quit. Without an Envoy they have no effect. */
const idle = scuttle.takes.filter(
  (name) => !["ENVOY_ADMIN_API", "QUIT_REQUEST_TIMEOUT", "SCUTTLE_LOGGING"].includes(name),
);

interface ScuttleCall {
  readonly variables: Variables;
  readonly builder: SettingsBuilder;
}

function translate(args: readonly string[], env: Environment): Translation {
  const builder = new SettingsBuilder();
  const variables = new Variables(env, builder);
  const call = { variables, builder };
  const isGenericOnly = variables.isTrue("GENERIC_QUIT_ONLY");
  const without = isGenericOnly ? idle.filter((name) => !name.startsWith("GENERIC_")) : idle;
  const admin = addAdmin("istio", { ...call, idle: without });
  if (admin !== undefined) addWait(call);
  if (isGenericOnly) addGenericOnly(call);
  else if (admin !== undefined) addQuits(admin, call);
  const quitTimeout = variables.time("QUIT_REQUEST_TIMEOUT");
  if (quitTimeout !== undefined) builder.add("quit-timeout", "QUIT_REQUEST_TIMEOUT", quitTimeout);
  const isLogging = variables.text("SCUTTLE_LOGGING") === undefined || variables.isTrue("SCUTTLE_LOGGING");
  builder.add("log-level", "SCUTTLE_LOGGING", isLogging ? "info" : "error");
  if (args.length === 0) builder.refuse("scuttle: expected a command; usage: scuttle CMD ARG...");
  return { command: "run", ...wholeCommandLine(args), compat: builder.compat };
}

/**
 * Adds how long to wait. QUIT_WITHOUT_ENVOY_TIMEOUT wins over WAIT_FOR_ENVOY_TIMEOUT; without either the wait has no
 * end.
 */
function addWait({ variables, builder }: ScuttleCall): void {
  const ending = variables.time("QUIT_WITHOUT_ENVOY_TIMEOUT");
  const starting = variables.time("WAIT_FOR_ENVOY_TIMEOUT");
  const origin = ending === undefined ? "WAIT_FOR_ENVOY_TIMEOUT" : "QUIT_WITHOUT_ENVOY_TIMEOUT";
  const time = ending ?? starting;
  builder.add("wait-timeout", time === undefined ? "scuttle" : origin, time ?? "0");
  if (time !== undefined) builder.add("on-wait-timeout", origin, ending === undefined ? "start" : "fail");
}

/** Adds the quits of GENERIC_QUIT_ENDPOINTS as the only ones, whatever else is set, also without an Envoy. */
function addGenericOnly({ variables, builder }: ScuttleCall): void {
  builder.add("quit", "GENERIC_QUIT_ONLY", "none");
  for (const url of variables.urls("GENERIC_QUIT_ENDPOINTS")) builder.add("quit", "GENERIC_QUIT_ENDPOINTS", `+${url}`);
}

function addQuits(admin: AdminUrl, { variables, builder }: ScuttleCall): void {
  const isNever = variables.isTrue("NEVER_KILL_ISTIO");
  const isNeverOnFailure = variables.isTrue("NEVER_KILL_ISTIO_ON_FAILURE");
  if (!isLocal(admin)) builder.add("quit-on", "ENVOY_ADMIN_API", "never");
  else if (isNever) builder.add("quit-on", "NEVER_KILL_ISTIO", "never");
  else if (isNeverOnFailure) builder.add("quit-on", "NEVER_KILL_ISTIO_ON_FAILURE", "success");
  for (const url of variables.urls("GENERIC_QUIT_ENDPOINTS")) builder.add("quit", "GENERIC_QUIT_ENDPOINTS", `+${url}`);
  const given = variables.base("ISTIO_QUIT_API");
  const base = given ?? agentBeside(admin);
  if (base !== undefined)
    builder.add("quit", given === undefined ? "ENVOY_ADMIN_API" : "ISTIO_QUIT_API", `${base}/quitquitquit`);
  if (variables.isTrue("ISTIO_FALLBACK_PKILL")) builder.add("signal-process", "ISTIO_FALLBACK_PKILL", "+pilot-agent");
  else if (given === undefined) builder.add("signal-process", "no ISTIO_QUIT_API", "+pilot-agent");
}

/**
 * Returns the base URL of the quit: ENVOY_ADMIN_API with pilot-agent's port 15020 in the place of Istio's Envoy's,
 * 15000 (replacePort in scuttle_config.go). Any other Envoy gets the quit itself. Returns undefined for a Unix socket.
 */
function agentBeside({ url, target }: AdminUrl): string | undefined {
  if (target.address.kind !== "tcp") return undefined;
  const { host, port } = target.address;
  if (port !== 15_000) return url;
  return withoutSlashes(exactUrl({ ...target, authority: formatHostPort(host, 15_020) }));
}

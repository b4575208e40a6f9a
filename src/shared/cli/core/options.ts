import type { Values } from "./option.ts";
import { child } from "./options/child.ts";
import { output } from "./options/output.ts";
import { shutdown } from "./options/shutdown.ts";
import { sidecars } from "./options/sidecars.ts";
import { waiting } from "./options/waiting.ts";

/** Every option that a command in the pod can have, in the order of the manual. */
export const options = {
  sidecar: sidecars.sidecar,
  admin: sidecars.admin,
  ready: waiting.ready,
  readyPath: waiting.readyPath,
  quit: shutdown.quit,
  signalProcess: shutdown.signalProcess,
  header: sidecars.header,
  any: waiting.any,
  waitTimeout: waiting.waitTimeout,
  onWaitTimeout: waiting.onWaitTimeout,
  noWait: waiting.noWait,
  quitOn: shutdown.quitOn,
  restartPolicy: shutdown.restartPolicy,
  restartCodes: shutdown.restartCodes,
  lastOf: shutdown.lastOf,
  quitTimeout: shutdown.quitTimeout,
  drain: shutdown.drain,
  minDrain: shutdown.minDrain,
  maxInFlight: shutdown.maxInFlight,
  grace: child.grace,
  podGrace: shutdown.podGrace,
  podAnnotations: sidecars.podAnnotations,
  hostNetwork: sidecars.hostNetwork,
  appPort: sidecars.appPort,
  detectTimeout: sidecars.detectTimeout,
  stopSignal: child.stopSignal,
  rewriteSignal: child.rewriteSignal,
  signalGroup: child.signalGroup,
  parentDeath: child.parentDeath,
  expectExit: child.expectExit,
  logLevel: output.logLevel,
  logFormat: output.logFormat,
  quiet: output.quiet,
  terminationLog: output.terminationLog,
  port: sidecars.port,
  body: output.body,
  timeout: output.timeout,
  json: output.json,
  watch: output.watch,
} as const;

export type OptionName = keyof typeof options;

/** The values of some of these options. */
export type Settings<K extends OptionName = OptionName> = Pick<Values<typeof options>, K>;

/** The options that decide which sidecars are here, and what ebb requests from them. */
export const sidecarOptionNames = [
  ...["sidecar", "admin", "ready", "readyPath", "quit", "signalProcess"],
  ...["header", "podAnnotations", "hostNetwork", "appPort"],
] as const;
/** The options that decide how ebb logs. */
export const logOptionNames = ["logLevel", "logFormat", "quiet"] as const;

/** The options with which `ebb drain` does its work as a preStop hook. */
export const hookOptionNames = [
  ...sidecarOptionNames,
  ...logOptionNames,
  ...["minDrain", "maxInFlight", "podGrace"],
] as const;

/** Returns the options with these names, in the order of `options`. */
export function pickOptions<K extends OptionName>(...names: readonly K[]): Pick<typeof options, K> {
  const picked: Partial<Record<OptionName, unknown>> = {};
  const wanted: ReadonlySet<string> = new Set(names);
  for (const name of Object.keys(options) as OptionName[]) if (wanted.has(name)) picked[name] = options[name];
  return picked as Pick<typeof options, K>;
}

import type { Settings } from "../cli/core/options.ts";
import { formatDuration } from "../core/duration.ts";
import type { Environment } from "../core/environment.ts";
import type { ErrorMessage, Warning } from "../core/log-messages.ts";
import { capped, oneLine, printable } from "../core/text.ts";
import { hasColours, isTerminal } from "./live.ts";
import { describeLossBy, writeError, writePrintable } from "./output.ts";

const LOST: Warning = "dropped log lines of ebb: stderr was not read";

/** The values of a log entry. Those that are undefined are left out. */
export type Fields = Readonly<Record<string, unknown>>;

/** ebb's log: debug for each attempt, info for each phase, warn and error for what went wrong. */
export interface Log {
  debug(fields: Fields, message: string): void;
  info(fields: Fields, message: string): void;
  warn(fields: Fields, message: Warning): void;
  error(fields: Fields, message: ErrorMessage): void;
}

type Level = keyof Log;

let begun: { readonly log: Log; readonly isText: () => boolean } | undefined;

/** Returns the log, once it has begun and if its lines are JSON: what goes wrong then belongs into it. */
export function jsonLog(): Log | undefined {
  return begun?.isText() === false ? begun.log : undefined;
}

export type LogSettings = Settings<"logLevel" | "logFormat" | "quiet">;

/** Creates a log that writes each entry as one line to stderr, and to `other` if that is given. */
export function createLog(settings: LogSettings, env: Environment, other?: (text: string) => void): Log {
  const level = settings.quiet ? "error" : settings.logLevel;
  const isText = onceKnown(settings);
  const logger = createLogger(level, writer(settings, isText, { env, other }));
  const log = (at: Level) => (fields: Fields, message: string) => logger[at](fields, message);
  const made = { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
  begun = { log: made, isText };
  return made;
}

/**
 * pino's browser build: the same JSON as its Node build at a tenth of the start-up time and memory, and no threads (its
 * transports lose lines in a compiled executable). Commands without a log do not load it: that takes 0.4 ms (measured).
 */
function createLogger(level: Level, write: (entry: object) => void) {
  const pino: typeof import("pino/browser.js") = require("pino/browser.js");
  return pino({ level, browser: { asObject: true, write } });
}

/** Returns whether the lines on stderr are text, which only the first of them needs to know. */
function onceKnown({ logFormat }: LogSettings): () => boolean {
  let isText: boolean | undefined;
  return () => {
    isText ??= logFormat === "text" || (logFormat === "auto" && isTerminal(2));
    return isText;
  };
}

function writer(
  { logFormat }: LogSettings,
  isTextHere: () => boolean,
  { env, other }: { readonly env: Environment; readonly other: ((text: string) => void) | undefined },
): (entry: object) => void {
  const format = (asText: boolean, entry: object) => `${asText ? formatText(entry, plain) : formatJson(entry)}\n`;
  describeLossBy((lines) => format(isTextHere(), { time: Date.now(), level: WARN, msg: LOST, lines }));
  return (entry) => {
    if (isTextHere() && hasColours(env)) writePrintable(`${formatText(entry, coloured)}\n`);
    else writeError(format(isTextHere(), entry));
    other?.(format(logFormat === "text", entry));
  };
}

interface Entry {
  readonly time: number;
  readonly level: number;
  readonly msg: string;
}

/** pino's numbers of the levels. */
const WARN = 40;
const names: Readonly<Record<number, string>> = { 20: "debug", 30: "info", 40: "warn", 50: "error" };
/** Google Cloud's names of the levels (LogSeverity). Without one, it takes each line of stderr for an error. */
const severities: Readonly<Record<number, string>> = { 20: "DEBUG", 30: "INFO", 40: "WARNING", 50: "ERROR" };

function formatJson(entry: object): string {
  const { time, level, msg, ...fields } = entry as Entry;
  const line: Record<string, unknown> = {
    level: names[level],
    severity: severities[level],
    time: new Date(time).toISOString(),
    msg: `ebb: ${msg}`,
  };
  for (const name in fields) line[name] = capped(fields[name as never]);
  return JSON.stringify(line);
}

type Style = (text: string, code: number) => string;
const plain: Style = (text) => text;
const coloured: Style = (text, code) => (text === "" ? "" : `\x1b[${code}m${printable(text)}\x1b[0m`);
const DIM = 2;
const colours: Readonly<Record<number, number>> = { 40: 33, 50: 31 };

function formatText(entry: object, style: Style): string {
  const { level, msg, time: _, ...fields } = entry as Entry;
  const prefix = level >= WARN ? `ebb: ${style(`${names[level]}:`, colours[level] ?? 0)} ` : "ebb: ";
  return `${prefix}${msg}${style(Object.entries(fields).map(formatField).join(""), DIM)}`;
}

function formatField([name, whole]: readonly [string, unknown]): string {
  if (whole === undefined) return ""; // as JSON has it
  const value = capped(whole);
  if (typeof value === "number" && name.endsWith("Ms")) return ` ${name.slice(0, -2)}=${formatDuration(value)}`;
  const text = Array.isArray(value) ? value.join(",") : typeof value === "string" ? value : JSON.stringify(value);
  if (!/[\s"]/.test(text)) return ` ${name}=${text}`;
  return ` ${name}=${text.includes('"') && !text.includes("'") ? `'${oneLine(text)}'` : JSON.stringify(text)}`;
}

import pino from "pino/browser.js";
import { formatDuration } from "../core/duration.ts";
import { type Environment, unknownVariables } from "../core/option.ts";
import { options, type Settings } from "../core/options.ts";
import { libc } from "./libc.ts";
import { writeError } from "./output.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** A constant message, its values as fields. debug: each attempt; info: each phase; warn, error: what went wrong. */
export interface Log {
  debug(fields: Fields, message: string): void;
  info(fields: Fields, message: string): void;
  warn(fields: Fields, message: string): void;
  error(fields: Fields, message: string): void;
}

type LogSettings = Settings<"logLevel" | "logFormat" | "quiet">;

/**
 * Logs to stderr, one line an entry, written at once. pino's browser build: the same JSON as its Node build at a tenth of the
 * start-up time and memory, and no threads (its transports lose lines in a compiled executable).
 */
export function createLog(settings: LogSettings, env: Environment): Log {
  const isText = settings.logFormat === "text" || (settings.logFormat === "auto" && isTerminal(2));
  const write = (entry: object): void => writeError(`${isText ? formatText(entry) : formatJson(entry)}\n`);
  const log = pino({
    level: settings.quiet ? "error" : settings.logLevel,
    browser: { asObject: true, write },
  });
  for (const variable of unknownVariables(options, env))
    log.warn({ variable }, "this variable sets nothing: no such option");
  return log;
}

function isTerminal(descriptor: number): boolean {
  return libc.isatty(descriptor) === 1;
}

interface Entry {
  readonly time: number;
  readonly level: number;
  readonly msg: string;
}

const levels: Readonly<Record<number, string>> = {
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
};

function formatJson(entry: object): string {
  const { time, level, msg, ...fields } = entry as Entry;
  return JSON.stringify({
    level: levels[level],
    time: new Date(time).toISOString(),
    msg: `ebb: ${msg}`,
    ...fields,
  });
}

function formatText(entry: object): string {
  const { level, msg, time: _, ...fields } = entry as Entry;
  const prefix = level >= 40 ? `ebb: ${levels[level]}: ` : "ebb: ";
  return `${prefix}${msg}${Object.entries(fields).map(formatField).join("")}`;
}

function formatField([name, value]: readonly [string, unknown]): string {
  if (typeof value === "number" && name.endsWith("Ms")) return ` ${name.slice(0, -2)}=${formatDuration(value)}`;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return ` ${name}=${/[\s"]/.test(text) ? JSON.stringify(text) : text}`;
}

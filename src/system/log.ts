import { formatDuration } from "../core/duration.ts";
import { type Sources, unknownVariables } from "../core/option.ts";
import { options, type Settings } from "../core/options.ts";
import { atExit } from "./exit.ts";
import { isTerminal } from "./live.ts";
import { writeError } from "./output.ts";
import { deadline } from "./timer.ts";

const LONGEST_HOLD_MS = 5;

export type Fields = Readonly<Record<string, unknown>>;
type Level = "debug" | "info" | "warn" | "error";

/**
 * A constant message, its values as fields. debug: each attempt; info: each phase; warn, error: what went wrong.
 * What is logged first is held for up to 5 ms, or until the first error, so that the child need not wait for it.
 */
export interface Log extends Readonly<Record<Level, (fields: Fields, message: string) => void>> {
  /** Writes what is held, and from now on at once. */
  release(): void;
}

type LogSources = Pick<Sources, "env" | "said">;
type LogSettings = Settings<"logLevel" | "logFormat" | "quiet">;

/** Logs to stderr, and to another place if there is one, one line an entry. */
export function createLog(settings: LogSettings, { env, said }: LogSources, other?: (text: string) => void): Log {
  let logger: ReturnType<typeof createLogger> | undefined;
  let time = 0;
  const held: { readonly level: Level; readonly fields: Fields; readonly message: string; readonly time: number }[] =
    [];
  const release = (): void => {
    if (logger !== undefined) return;
    logger = createLogger(settings, () => time, other);
    for (const entry of held) {
      time = entry.time;
      logger[entry.level](entry.fields, entry.message);
    }
    for (const { fields, message } of said?.notes ?? []) log("warn")(fields, message);
    for (const variable of unknownVariables(options, env)) {
      log("warn")({ variable }, "this variable sets nothing: no such option");
    }
  };
  const log = (level: Level) => (fields: Fields, message: string) => {
    time = Date.now();
    if (logger !== undefined) return logger[level](fields, message);
    held.push({ level, fields, message, time });
    if (level === "error") release();
  };
  atExit(release);
  deadline(LONGEST_HOLD_MS, release);
  return { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error"), release };
}

/**
 * pino's browser build: the same JSON as its Node build at a tenth of the start-up time and memory, and no threads (its
 * transports lose lines in a compiled executable). Loaded here, because even that is 0.4 ms (measured).
 */
function createLogger(
  { quiet, logLevel, logFormat }: LogSettings,
  timestamp: () => number,
  other: ((text: string) => void) | undefined,
) {
  const pino: typeof import("pino/browser.js") = require("pino/browser.js");
  const isText = logFormat === "text" || (logFormat === "auto" && isTerminal(2));
  const format = (asText: boolean, entry: object) => `${asText ? formatText(entry) : formatJson(entry)}\n`;
  const write = (entry: object): void => {
    writeError(format(isText, entry));
    other?.(format(logFormat === "text", entry));
  };
  return pino({
    level: quiet ? "error" : logLevel,
    timestamp: timestamp as () => never,
    browser: { asObject: true, write },
  });
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
  if (value === undefined) return ""; // as JSON has it
  if (typeof value === "number" && name.endsWith("Ms")) return ` ${name.slice(0, -2)}=${formatDuration(value)}`;
  const text = Array.isArray(value) ? value.join(",") : typeof value === "string" ? value : JSON.stringify(value);
  if (!/[\s"]/.test(text)) return ` ${name}=${text}`;
  return ` ${name}=${text.includes('"') && !text.includes("'") ? `'${text}'` : JSON.stringify(text)}`;
}

import { isDnsLabel } from "../../core/dns-name.ts";
import { parseDuration } from "../../core/duration.ts";
import { parsePort } from "../../core/host-port.ts";
import { redactUrls } from "../../core/redact.ts";
import { isForwarded, parseSignal, SIG, type SignalNumber } from "../../core/signal.ts";
import { splitBy } from "../../core/text.ts";
import { expectedOfChoice, expectedOfChoices, parseChoice, type SidecarChoice } from "../../sidecars/core/choice.ts";
import { sidecarNames } from "../../sidecars/core/registry.ts";
import { nearest } from "./suggestion.ts";

/**
 * The syntax of an option's value: a plain function, because zod costs each pod's start 1.2 ms (measured). zod checks
 * the JSON that others send.
 */
export interface Syntax<V> {
  /** Returns the value, or undefined if the text is not what is `expected`. */
  readonly parse: (text: string) => V | undefined;
  /** What a good text is, for messages: it follows the word "expected". */
  readonly expected: string;
  /** What is expected, if a bad text shows it more closely; in the place of `expected`. */
  readonly closer?: (text: string) => string | undefined;
  /** What is expected of an option that takes one value, if several are given; undefined if the last one counts. */
  readonly several?: (texts: readonly string[]) => string | undefined;
  /** All words that are good, if there are only a few. */
  readonly words?: readonly string[];
  /** Redacts a text, good or bad, that may hold a secret. */
  readonly shown?: (text: string) => string;
  /** What follows the message about a bad text: `; did you mean ...?`, or nothing. */
  readonly hint?: (text: string) => string;
}

/** Creates the syntax of an option's value from the fields of `Syntax`. */
export function syntax<V>(
  parse: (text: string) => V | undefined,
  expected: string,
  shown?: (text: string) => string,
): Syntax<V> {
  return shown === undefined ? { parse, expected } : { parse, expected, shown };
}

/**
 * Formats what is wrong with a value: `--grace: expected a duration such as 30s, got "soon"`. `shown` redacts `got`; by
 * default it redacts URLs.
 */
export function unexpected(origin: string, expected: string, got: string, shown = redactUrls): string {
  return `${origin}: expected ${expected}, got ${JSON.stringify(shown(got))}`;
}

/** The syntax of a time, with the hint `; did you mean 5m?` for `5 min`. */
function inTime(parse: (text: string) => number | undefined, expected: string): Syntax<number> {
  return {
    parse,
    expected,
    hint(text) {
      const meant = withShortUnit(text);
      return meant === undefined || parse(meant) === undefined ? "" : `; did you mean ${meant}?`;
    },
  };
}

function withShortUnit(text: string): string | undefined {
  const form = /^(\d+(?:\.\d+)?) *(?:(ms|milli)|(s|sec|m|min|h|hr|d)|(second|minute|hour|day))(?:s|seconds)?$/i;
  const [, number, milli, short, long] = form.exec(text.trim()) ?? [];
  const unit = milli === undefined ? (short ?? long ?? "").slice(0, 1) : "ms";
  return number === undefined ? undefined : `${number}${unit.toLowerCase()}`;
}

/** Any text, the empty one included. An option with it must declare whether it is secret. */
export const anyText: Syntax<string> = { parse: (text) => text, expected: "text" };

/** Creates the syntax of an option whose value is one of these words, in any case. */
export function oneOf<const W extends readonly string[]>(words: W): Syntax<W[number]> {
  return {
    words,
    parse: (text) => words.find((word) => word.toLowerCase() === text.toLowerCase()),
    get expected() {
      return [words.slice(0, -1).join(", "), ...words.slice(-1)].filter(Boolean).join(" or ");
    },
  };
}

/** Milliseconds. */
export const duration = inTime(parseDuration, "a duration such as 30s, 1m30s or 500ms");
/** Milliseconds, above 0. */
export const positive = inTime((value) => parseDuration(value) || undefined, "a duration above 0, such as 5s");
/** Milliseconds; 0 is read as Infinity. */
export const limit = inTime(parseLimit, "a duration such as 5m (0: forever)");
/** A number of at most 9 digits. */
export const wholeNumber = syntax(
  (given) => (/^\d{1,9}$/.test(given) ? Number(given) : undefined),
  "a whole number such as 0",
);
export const boolean = syntax(parseBoolean, "true or false");
export const port = syntax(parsePort, "a port from 1 to 65535");
const choiceWords: readonly string[] = ["auto", "none", ...sidecarNames];
export const sidecarChoice: Syntax<SidecarChoice> = {
  ...syntax(
    parseChoice,
    `auto, none, or NAME or NAME:PORT of ${sidecarNames.join(", ")}, or several of these with commas`,
  ),
  closer: expectedOfChoice,
  several: expectedOfChoices,
  hint: hintAtSidecar,
  words: choiceWords,
};
/** Returns `; did you mean istio?` for the first word that is nearly a sidecar's name. */
function hintAtSidecar(text: string): string {
  const given = splitBy(text, ",").map((word) => word.split(":", 1)[0] as string);
  const unknown = given.filter((word) => !choiceWords.includes(word));
  const near = unknown.map((word) => nearest(word, choiceWords)).find((word) => word !== undefined);
  return near === undefined ? "" : `; did you mean ${near}?`;
}

/** A pair of signal numbers, of which the second may be 0. */
export const rewrite = syntax(parseRewrite, "FROM:TO, two signals such as TERM:QUIT (TERM:0: not forwarded)");
/** Signal numbers, at least one. */
export const stopSignals = syntax(parseStopSignals, "signals such as TERM,INT or QUIT (not KILL, STOP, CHLD)");
export const parentDeath = syntax(parseParentDeath, "a signal such as TERM, or KILL (not STOP, CHLD, TTIN, TTOU)");
export const exitCodes = syntax(parseCodes, "exit codes from 0 to 255, such as 143");
export const containerNames = syntax(
  parseContainers,
  "the names of two or more containers, this one first, such as app,worker",
);

/** Parses a boolean like Go's strconv.ParseBool, which the other tools use. */
function parseBoolean(given: string): boolean | undefined {
  if (/^(true|1|t)$/i.test(given)) return true;
  return /^(false|0|f)$/i.test(given) ? false : undefined;
}

function parseLimit(given: string): number | undefined {
  const ms = parseDuration(given);
  return ms === 0 ? Number.POSITIVE_INFINITY : ms;
}

function parseRewrite(given: string): readonly [from: SignalNumber, to: SignalNumber] | undefined {
  const [, from = "", to = ""] = /^([^:]+):([^:]+)$/.exec(given) ?? [];
  const [old, next] = [parseSignal(from), to === "0" ? 0 : parseSignal(to)];
  return old === undefined || next === undefined ? undefined : [old, next];
}

function parseParentDeath(given: string): SignalNumber | undefined {
  const signal = parseSignal(given);
  if (signal === undefined || signal === SIG.TTIN || signal === SIG.TTOU) return undefined;
  return isForwarded(signal) || signal === SIG.KILL ? signal : undefined;
}

function parseStopSignals(given: string): readonly SignalNumber[] | undefined {
  const signals: SignalNumber[] = [];
  for (const name of splitBy(given, ",")) {
    const signal = parseSignal(name);
    if (signal === undefined || !isForwarded(signal)) return undefined;
    signals.push(signal);
  }
  return signals.length > 0 ? signals : undefined;
}

function parseCodes(given: string): readonly number[] | undefined {
  const codes = splitBy(given, ",");
  return codes.every((code) => /^\d{1,3}$/.test(code) && Number(code) < 256) ? codes.map(Number) : undefined;
}

function parseContainers(given: string): readonly string[] | undefined {
  const names = splitBy(given, ",");
  return names.length > 1 && names.every(isDnsLabel) ? names : undefined;
}

import { describeTarget, exactUrl, parseHttpTarget } from "../../core/address.ts";
import type { Header, HttpAnswer } from "../../http/core/http-framing.ts";
import { kindOf } from "./registry.ts";
import type { QuitRequest, Sidecar } from "./sidecar.ts";

/** Parses `URL` (by POST) or `METHOD URL`; a `+` before it sets `isAdditional`. Returns undefined for anything else. */
export function parseQuit(text: string): QuitRequest | undefined {
  const [, more, method = "POST", url = ""] = /^(\+)?(?:([A-Za-z]+)\s+)?(\S+)$/.exec(text) ?? [];
  const target = parseHttpTarget(url);
  if (target === undefined) return undefined;
  return { method: method.toUpperCase(), target, ...(more === undefined ? {} : { isAdditional: true }) };
}

/** Parses a value of `--quit`: what `parseQuit` takes, or `none`. Returns undefined for anything else. */
export function parseQuitOption(text: string): QuitRequest | "none" | undefined {
  return text === "none" ? text : parseQuit(text);
}

/** Formats a quit for the log, without secrets: `POST http://localhost:15020/quitquitquit`. */
export function describeQuit({ method, target }: QuitRequest): string {
  return `${method} ${describeTarget(target)}`;
}

/**
 * Formats method and URL of a quit, secrets included, so that `parseQuit` can read them back. Use the result to pass on
 * or compare; never log it.
 */
export function serializeQuit({ method, target }: QuitRequest): string {
  return `${method} ${exactUrl(target)}`;
}

/** Parses `Name: value` (RFC 9110). Returns undefined for anything else, such as a value with a line break. */
export function parseHeader(text: string): Header | undefined {
  const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([^\r\n\0]*)$/.exec(text);
  return match === null ? undefined : [match[1] as string, (match[2] as string).replace(/^[ \t]+/, "")];
}

/**
 * Explains a sidecar's refusal of a quit, by the answer's status: `HTTP 404: ...`. Returns undefined if it is a 2xx.
 */
export function quitRefusal(name: Sidecar["name"], { status }: Pick<HttpAnswer, "status">): string | undefined {
  if (status >= 200 && status < 300) return undefined;
  const meaning = name === "custom" ? undefined : kindOf(name).refusals()[status];
  return meaning === undefined ? `HTTP ${status}` : `HTTP ${status}: ${meaning}`;
}

/** Says what to do about a sidecar that has taken its quit, or may have, and does not exit. */
export function quitUnfinished(name: Sidecar["name"]): string {
  const program = (name === "custom" ? undefined : kindOf(name).programs[0]) ?? "";
  const executable = program === "" || program.length === SHOWN_LENGTH ? "NAME" : program;
  return `raise --quit-timeout, or end it by signals: --signal-process ${executable}, with shareProcessNamespace: true`;
}

/** The kernel cuts the name of a program in /proc at so many characters. */
const SHOWN_LENGTH = 15;

/**
 * Explains why the address of a sidecar's quit refuses connections, and what to change. Returns undefined for `custom`.
 */
export function quitUnreachable(name: Sidecar["name"]): string | undefined {
  if (name === "custom") return undefined;
  return kindOf(name).unreachable?.() ?? "its admin interface is elsewhere: set --admin to its URL";
}

import { describeTarget, exactUrl, parseHttpTarget } from "../base/address.ts";
import type { Header, HttpAnswer } from "../base/http-framing.ts";
import { kindOf } from "./registry.ts";
import type { QuitRequest, Sidecar } from "./sidecar.ts";

/** Parses `URL` or `METHOD URL`, with `+` before it for an additional one; POST without a method. Undefined for anything else. */
export function parseQuit(text: string): QuitRequest | undefined {
  const [, more, method = "POST", url = ""] = /^(\+)?(?:([A-Za-z]+)\s+)?(\S+)$/.exec(text) ?? [];
  const target = parseHttpTarget(url);
  if (target === undefined) return undefined;
  return { method: method.toUpperCase(), target, ...(more === undefined ? {} : { isMore: true }) };
}

/** Parses a value of `--quit`: as `parseQuit`, or `none`, which leaves out the sidecar's own quit. */
export function parseQuitOption(text: string): QuitRequest | "none" | undefined {
  return text === "none" ? text : parseQuit(text);
}

/** Formats a quit as the log names it: `POST http://localhost:15020/quitquitquit`. */
export function describeQuit({ method, target }: QuitRequest): string {
  return `${method} ${describeTarget(target)}`;
}

/** Formats a quit as `parseQuit` reads it, with all secrets: to be passed on or compared, never to be shown. */
export function serializeQuit({ method, target }: QuitRequest): string {
  return `${method} ${exactUrl(target)}`;
}

/** Parses `Name: value` (RFC 9110); undefined for anything else. */
export function parseHeader(text: string): Header | undefined {
  const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([^\r\n\0]*)$/.exec(text);
  return match === null ? undefined : [match[1] as string, (match[2] as string).replace(/^[ \t]+/, "")];
}

/** Explains a sidecar's refusal of a quit, by its status; undefined where it will exit. */
export function quitRefusal(name: Sidecar["name"], { status }: Pick<HttpAnswer, "status">): string | undefined {
  if (status >= 200 && status < 300) return undefined;
  const meaning = name === "custom" ? undefined : kindOf(name).refusals()[status];
  return meaning === undefined ? `HTTP ${status}` : `HTTP ${status}: ${meaning}`;
}

/** Explains that nobody listens where a sidecar takes quits; undefined where ebb knows no reason. */
export function quitUnreachable(name: Sidecar["name"]): string | undefined {
  if (name === "custom") return undefined;
  return kindOf(name).unreachable?.() ?? "nobody listens there; --admin says where its admin interface is";
}

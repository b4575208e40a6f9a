import { describeTarget, exactUrl, parseHttpTarget } from "../base/address.ts";
import type { Header, HttpAnswer } from "../base/http-framing.ts";
import { kindOf } from "./registry.ts";
import type { QuitRequest, Sidecar } from "./sidecar.ts";

/** `URL` or `METHOD URL`, with `+` before it for one more; undefined for anything else. POST where no method is given. */
export function parseQuit(text: string): QuitRequest | undefined {
  const [, more, method = "POST", url = ""] = /^(\+)?(?:([A-Za-z]+)\s+)?(\S+)$/.exec(text) ?? [];
  const target = parseHttpTarget(url);
  if (target === undefined) return undefined;
  return { method: method.toUpperCase(), target, ...(more === undefined ? {} : { isMore: true }) };
}

/** As `--quit` has it: `none` too, which leaves the sidecar's own quit out. */
export function parseQuitOption(text: string): QuitRequest | "none" | undefined {
  return text === "none" ? text : parseQuit(text);
}

export function describeQuit({ method, target }: QuitRequest): string {
  return `${method} ${describeTarget(target)}`;
}

/** As `parseQuit` reads it, with all secrets: to be passed on or compared, never to be shown. */
export function exactQuit({ method, target }: QuitRequest): string {
  return `${method} ${exactUrl(target)}`;
}

/** `Name: value`; undefined for anything else (RFC 9110, field names and values). */
export function parseHeader(text: string): Header | undefined {
  const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([^\r\n\0]*)$/.exec(text);
  return match === null ? undefined : [match[1] as string, (match[2] as string).replace(/^[ \t]+/, "")];
}

/** What a sidecar's answer to a quit means: undefined when it will go. */
export function quitRefusal(name: Sidecar["name"], { status }: Pick<HttpAnswer, "status">): string | undefined {
  if (status >= 200 && status < 300) return undefined;
  const meaning = name === "custom" ? undefined : kindOf(name).refusals()[status];
  return meaning === undefined ? `HTTP ${status}` : `HTTP ${status}: ${meaning}`;
}

/** What it means that nobody listens where the quit of a sidecar goes that is here; undefined: that only its user can tell. */
export function quitUnreachable(name: Sidecar["name"]): string | undefined {
  if (name === "custom") return undefined;
  return kindOf(name).unreachable?.() ?? "nobody listens there; --admin says where its admin interface is";
}

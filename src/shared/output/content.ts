import { printable } from "../core/text.ts";
import { isTerminal } from "./live.ts";
import { writeStreamed } from "./output.ts";

/**
 * Writes a piece of content to stdout. Resolves with false if stdout is closed. Rejects with Failure(71) if it
 * cannot be written.
 */
type WriteContent = (bytes: Uint8Array) => Promise<boolean>;

/**
 * Returns a writer to stdout. It writes bytes as they are or, if stdout is a terminal, UTF-8 text with control
 * characters escaped.
 */
export function contentWriter(): WriteContent {
  if (!isTerminal(1)) return writeStreamed;
  const decoder = new TextDecoder();
  return (bytes) => writeStreamed(new TextEncoder().encode(printable(decoder.decode(bytes, { stream: true }))));
}

/** Writes text to stdout, at a terminal with control characters escaped. Settles as `WriteContent` does. */
export function writeContent(text: string): Promise<boolean> {
  return contentWriter()(new TextEncoder().encode(text));
}

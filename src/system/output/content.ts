import { printable } from "../../core/base/text.ts";
import { isTerminal } from "./live.ts";
import { writeStreamed } from "./output.ts";

/** Writes what a user asked for to stdout, piece by piece; false where nobody reads any more. @throws Failure 71 */
export type WriteContent = (bytes: Uint8Array) => Promise<boolean>;

/** Returns a writer to stdout: as it is, to the byte; at a terminal with control characters escaped. */
export function contentWriter(): WriteContent {
  if (!isTerminal(1)) return writeStreamed;
  const decoder = new TextDecoder();
  return (bytes) => writeStreamed(new TextEncoder().encode(printable(decoder.decode(bytes, { stream: true }))));
}

/** Writes text to stdout; at a terminal with control characters escaped. Resolves to false where nobody reads any more. */
export function writeContent(text: string): Promise<boolean> {
  return contentWriter()(new TextEncoder().encode(text));
}

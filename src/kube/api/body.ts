import { MiB } from "../../system/input.ts";

/** All of a body. @throws where it has more bytes */
export async function textWithin({ body }: Response, mostBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new Error(`an answer of more than ${mostBytes / MiB} MiB`);
    parts.push(decoder.decode(chunk, { stream: true }));
  }
  return parts.join("") + decoder.decode();
}

/** The lines of a body, but for empty ones and a last one that does not end. @throws where one has more characters */
export async function* linesWithin({ body }: Response, mostLength: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    for (const [at, part] of decoder.decode(chunk, { stream: true }).split("\n").entries()) {
      if (at > 0) {
        if (length > 0) yield parts.join("");
        parts = [];
        length = 0;
      }
      length += part.length;
      if (length > mostLength) throw new Error(`a line of more than ${mostLength / MiB} Mi characters`);
      parts.push(part);
    }
  }
}

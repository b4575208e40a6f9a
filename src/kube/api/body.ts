import { MiB } from "../../system/input.ts";

/** Reads a whole response body as UTF-8 text. Rejects if the body has more than `mostBytes`. */
export async function readBodyWithin({ body }: Response, mostBytes: number): Promise<string> {
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

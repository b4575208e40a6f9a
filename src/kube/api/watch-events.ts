import { isObject } from "../../core/base/json.ts";

// A watch as it comes: a JSON object a line, in pieces that end anywhere.

/** Any event; of an error the object is a Status. */
export interface RawEvent {
  readonly type: unknown;
  readonly object: Readonly<Record<string, unknown>>;
}

/** Reads each piece once, however long a line is. `take` throws at what is no event, and at a line of more characters. */
export function createEventReader(longest: number) {
  const decoder = new TextDecoder();
  let begun: string[] = [];
  let length = 0;
  return {
    *take(bytes: Uint8Array): Generator<RawEvent> {
      const [first = "", ...others] = decoder.decode(bytes, { stream: true }).split("\n");
      begun.push(first);
      length += first.length;
      for (const other of others) {
        const line = begun.join("");
        [begun, length] = [[other], other.length];
        if (line !== "") yield eventIn(line);
      }
      if (length > longest) throw new Error(`a line of more than ${longest} characters`);
    },
  };
}

function eventIn(line: string): RawEvent {
  const event: unknown = JSON.parse(line);
  const isEvent =
    isObject(event) && isObject(event.object) && (event.type === "ERROR" || isObject(event.object.metadata));
  if (!isEvent) throw new Error("a line that is no event of a watch");
  return event as unknown as RawEvent;
}

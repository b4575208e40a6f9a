import { isObject } from "../../shared/core/json.ts";

// The body of a watch: one JSON object on each line. It comes in pieces that end anywhere.

/** Any event of a watch. The object of an ERROR is a Status (meta/v1). */
export interface RawEvent {
  readonly type: unknown;
  readonly object: Readonly<Record<string, unknown>>;
}

/**
 * Creates a reader of a watch's body. `take` yields the events that a piece completes, and throws if a line is not an
 * event or an unfinished one has more than `longest` characters.
 */
export function createEventReader(longest: number) {
  const decoder = new TextDecoder();
  // the pieces of an unfinished line, which are joined once: so each is read once, however long the line is
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
  if (!isEvent) throw new Error("a line that is not a watch event");
  return event as unknown as RawEvent;
}

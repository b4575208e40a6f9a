import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Parsed } from "../../../../../src/shared/http/core/http-framing.ts";
import { parseAnswer } from "../../../../../src/shared/http/core/http-message.ts";

interface Case {
  readonly text: string;
  readonly status: number;
  readonly body: string;
}

const latin1 = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString("latin1"));
const interims = fc.array(fc.constantFrom("HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 x\r\nLink: y\r\n\r\n"), {
  maxLength: 2,
});
const chunkSizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 });

/** A correct answer in any framing, with what may stand before and after it. */
const correct: fc.Arbitrary<Case> = fc
  .record({
    status: fc.integer({ min: 200, max: 599 }).filter((status) => status !== 204 && status !== 304),
    header: fc.constantFrom("", "X-Y: z\r\n", "Connection: close\r\n", "Server: envoy\r\n"),
    framing: fc.constantFrom("length", "chunked", "end"),
    trailer: fc.constantFrom("", "T: u\r\n"),
    after: fc.constantFrom("", "HTTP/1.1 500 another\r\n\r\n", "\r\n"),
    interims,
    chunkSizes,
    body: latin1,
  })
  .map(({ status, header, framing, trailer, after, interims, chunkSizes, body }) => {
    const head = `${interims.join("")}HTTP/1.1 ${status} Some Reason\r\n${header}`;
    if (framing === "length")
      return { status, body, text: `${head}Content-Length: ${body.length}\r\n\r\n${body}${after}` };
    if (framing === "end") return { status, body, text: `${head}\r\n${body}` };
    const coded = `${chunksOf(body, chunkSizes)}0\r\n${trailer}\r\n${after}`;
    return { status, body, text: `${head}Transfer-Encoding: chunked\r\n\r\n${coded}` };
  });

function chunksOf(body: string, sizes: readonly number[]): string {
  let coded = "";
  for (let at = 0, turn = 0; at < body.length; turn += 1) {
    const chunk = body.slice(at, at + (sizes[turn % sizes.length] as number));
    coded += `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
    at += chunk.length;
  }
  return coded;
}

/** A correct answer with some bytes replaced, left out or put in. */
const damaged: fc.Arbitrary<string> = fc
  .tuple(
    correct,
    fc.array(fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom("", "0", "\r", "\n", "x", ":", "\xff")), { maxLength: 3 }),
  )
  .map(([{ text }, wounds]) =>
    wounds.reduce((text, [where, removed, put]) => {
      const at = where % (text.length + 1);
      return text.slice(0, at) + put + text.slice(at + removed);
    }, text),
  );

const anything = fc.oneof(
  correct.map(({ text }) => text),
  damaged,
  latin1,
);

/** As a connection brings it: asked after each piece until the answer is known, and at the end of the connection. */
function receive(text: string, cuts: readonly number[]): Parsed {
  for (const cut of cuts) {
    const parsed = parseAnswer(text.slice(0, cut), false);
    if (parsed.kind !== "partial") return parsed;
  }
  return parseAnswer(text, true);
}

const whole = (text: string): readonly number[] => [text.length];
const bytewise = (text: string): readonly number[] => Array.from({ length: text.length }, (_, index) => index + 1);

/** How much of garbage is quoted depends on what has come by then; that it is garbage does not. */
const known = (parsed: Parsed) => (parsed.kind === "answer" ? parsed : parsed.kind);

test("a correct answer is read as it was meant, however it is framed", () => {
  fc.assert(
    fc.property(correct, ({ text, status, body }) => {
      expect(receive(text, whole(text))).toMatchObject({ kind: "answer", answer: { status, body } });
    }),
  );
});

test("any split of the same bytes gives the same result", () => {
  fc.assert(
    fc.property(anything, fc.array(fc.nat()), (text, numbers) => {
      const cuts = numbers.map((number) => number % (text.length + 1)).toSorted((a, b) => a - b);
      const result = known(receive(text, whole(text)));
      expect(known(receive(text, [...cuts, text.length]))).toEqual(result);
      expect(known(receive(text, bytewise(text)))).toEqual(result);
    }),
    { numRuns: 500 },
  );
});

test("after the connection is closed there is always a result", () => {
  fc.assert(
    fc.property(anything, (text) => {
      expect(parseAnswer(text, true).kind).not.toBe("partial");
    }),
  );
});

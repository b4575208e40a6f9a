import { expect, test } from "bun:test";
import { withoutTag } from "../../../src/cluster/core/containers.ts";
import { labelSelector } from "../../../src/cluster/core/label-selector.ts";
import { parseQuantity } from "../../../src/cluster/core/quantity.ts";
import { isEmptyDocument, joinTexts, splitDocuments } from "../../../src/cluster/inject/documents.ts";
import { readDocument } from "../../../src/cluster/inject/yaml/document.ts";
import { countInbound } from "../../../src/pod/envoy/core/clusters.ts";
import { countInFlight } from "../../../src/pod/envoy/core/counts.ts";
import { parseStats } from "../../../src/pod/envoy/core/stats.ts";
import { parseStat } from "../../../src/pod/process/core/process.ts";
import { parseDuration } from "../../../src/shared/core/duration.ts";
import { createAnswerReader, parseAnswer } from "../../../src/shared/http/core/http-message.ts";
import { parseAnnotations } from "../../../src/shared/sidecars/core/detect.ts";
import { parseHeader } from "../../../src/shared/sidecars/core/quit.ts";
import { processorMs } from "../../harness/processor-time.ts";

function inPieces(text: string, size: number): void {
  const reader = createAnswerReader();
  for (let at = 0; at < text.length; at += size) {
    if (reader.take(text.slice(at, at + size), false).kind !== "partial") return;
  }
}

const chunk = `400\r\n${"a".repeat(1024)}\r\n`;

/** What reads it, what is repeated, what stands before and after it. */
const table: readonly (readonly [string, (text: string) => unknown, string, string, string])[] = [
  ["a duration of digits", parseDuration, "1", "", "x"],
  ["a duration of parts", parseDuration, "1s", "", "x"],
  ["a quantity", parseQuantity, "1", "", "x"],
  ["a header with blanks", parseHeader, " ", "a:", "\n"],
  ["an image of colons", withoutTag, ":", "", "/"],
  ["an image of at signs", withoutTag, "@", "", "/"],
  ["a label selector", labelSelector.parse, ",", "", ""],
  ["a label selector of blanks", labelSelector.parse, " ", "a=", "\nb\nc"],
  ["documents of empty lines", (text) => joinTexts(["a: 1\n", text]), "\n", "", "x"],
  ["documents of comments", (text) => joinTexts(["a: 1\n", text]), " #\n", "", "x"],
  ["documents of quotes", splitDocuments, '\\"', '{"', ""],
  ["documents of braces", splitDocuments, "{}", "", ""],
  ["documents of marks", splitDocuments, "---\n", "", ""],
  ["an empty document", isEmptyDocument, " ", "--- ", "x"],
  ["a number", (text) => readDocument(text), "1", "a: ", "\n"],
  ["interim answers", (text) => parseAnswer(text, true), "HTTP/1.1 100\r\n\r\n", "", ""],
  [
    "an answer in single bytes",
    (text) => inPieces(text, 1),
    "a",
    "HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n",
    "",
  ],
  ["a head in small pieces", (text) => inPieces(text, 16), "a: b\r\n", "HTTP/1.1 200 OK\r\n", ""],
  [
    "chunks in small pieces",
    (text) => inPieces(text, 16),
    chunk,
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    "",
  ],
  [
    "statistics of one name",
    (text) => countInFlight(parseStats(text)),
    ".http.",
    "listener.",
    ".downstream_rq_completed: 1",
  ],
  ["a line of clusters", (text) => countInbound(text, { clusters: "a", ports: [] }), "::", "a", "x"],
  ["a process's name", parseStat, ") ", "1 (", "("],
  ["annotations", parseAnnotations, "\\u00", 'a="', "\n"],
];

const SIZE = 75_000;
/** Of processor time. What tries each place anew, or each piece again, takes minutes. */
const MOST_MS = 3000;
/** Four times as much takes four times as long, twice that for the caches; what is quadratic takes sixteen times as long. */
const FOUR_TIMES = 8;
/** Compiling and collecting come when they like. */
const SLACK_MS = 150;

test.each(table)("%s: time grows with the text and no faster, up to 300 KB", (_, read, unit, before, after) => {
  const timeOf = (size: number) => processorMs(() => read(before + unit.repeat(size / unit.length) + after));
  timeOf(SIZE); // compiled
  const [once = 0, twice = 0, fourTimes = 0] = [SIZE, 2 * SIZE, 4 * SIZE].map(timeOf);
  expect(fourTimes, `${once}, ${twice} and ${fourTimes} ms`).toBeLessThan(FOUR_TIMES * once + SLACK_MS);
  expect(fourTimes).toBeLessThan(MOST_MS);
});

test("one listener of statistics may have as many managers as it likes", () => {
  const line = (at: number) => `listener.a.http.${at}.downstream_rq_completed: 1\n`;
  const text = `${Array.from({ length: 60_000 }, (_, at) => line(at)).join("")}listener.a.downstream_cx_active: 1\n`;
  const tookMs = processorMs(() => expect(countInFlight(parseStats(text)).connections).toBe(1));
  expect(tookMs).toBeLessThan(MOST_MS);
});

import { deepStrictEqual } from "node:assert";
import { countInbound, createInboundCount, LONGEST_LINE } from "../../src/pod/envoy/core/clusters.ts";
import { inFlightOf } from "../../src/pod/envoy/core/in-flight.ts";
import { parseBoundListeners, parseListenerDump, parseServerInfo } from "../../src/pod/envoy/core/json.ts";
import { parseStats } from "../../src/pod/envoy/core/stats.ts";
import { networkByHosts } from "../../src/pod/find/core/network.ts";
import { judgeHealth } from "../../src/pod/probe/core/grpc-health.ts";
import { summarizeSockets } from "../../src/pod/process/core/net.ts";
import { parseStat } from "../../src/pod/process/core/process.ts";
import type { HttpAnswer, Parsed } from "../../src/shared/http/core/http-framing.ts";
import { createAnswerReader, parseAnswer } from "../../src/shared/http/core/http-message.ts";
import { parseListeners } from "../../src/shared/http/core/listening.ts";
import { parseAnnotations } from "../../src/shared/sidecars/core/detect.ts";
import { identify } from "../../src/shared/sidecars/core/identify.ts";
import { inboundOf } from "../../src/shared/sidecars/core/registry.ts";
import { type Random, randomOf } from "../harness/random.ts";
import { clusterGrammars, type Grammar } from "./cluster-grammars.ts";
import { imageGrammars } from "./image-grammars.ts";
import { readByLlhttp } from "./llhttp.ts";

/** Cuts a text into pieces: the same text always in the same way, so that its text alone shows a failure. */
function piecesOf(text: string): readonly string[] {
  const random = randomOf(text.length);
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += pieces.at(-1)?.length ?? 0)
    pieces.push(text.slice(at, at + 1 + random.int(0, 39)));
  return pieces;
}

/** Leaves out the reason why something is garbage: how much of it is quoted depends on what has come by then. */
function known(parsed: Parsed): unknown {
  return parsed.kind === "answer" ? parsed : parsed.kind;
}

function inPieces(text: string): Parsed {
  const reader = createAnswerReader();
  for (const piece of piecesOf(text)) {
    const parsed = reader.take(piece, false);
    if (parsed.kind !== "partial") return parsed;
  }
  return reader.take("", true);
}

function told({ status, body }: HttpAnswer): ReturnType<typeof readByLlhttp> {
  return { status, body };
}

/** Returns HTTP answers with that body, each framed in another way. */
function wellFormed(body: string): readonly string[] {
  const chunks = piecesOf(body).map((piece) => `${piece.length.toString(16)};a=b\r\n${piece}\r\n`);
  return [
    `HTTP/1.1 200 OK\r\nServer: a\r\n\r\n${body}`,
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 \r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n${chunks.join("")}0\r\nA: b\r\n\r\n`,
  ];
}

const inbound = inboundOf("istio") as NonNullable<ReturnType<typeof inboundOf>>;
const number = (random: Random) =>
  random.pick(["0", "1", "7", "4294967295", "99999999999999999999999", "-1", "1e9", ""]);
const listener = (random: Random) =>
  random.pick(["0.0.0.0_8080", "admin", "a.b", "[__]_80", "x.http.y", "worker_0", "http"]);

const http: Grammar = {
  line: (random) =>
    random.pick([
      "HTTP/1.1 200 OK\r\n",
      "HTTP/1.0 503\r\n",
      "HTTP/1.1 100 Continue\r\n\r\n",
      "Transfer-Encoding: chunked\r\n",
      `Content-Length: ${number(random)}\r\n`,
      "Connection: close\r\n",
      "\r\n",
      "5\r\nhello\r\n",
      "1;x=y\r\na\r\n",
      "0\r\n\r\n",
    ]),
  words: ["\r\n", "\r\n\r\n", "HTTP/1.1 ", "chunked", ":", "0\r\n", "ffffffff\r\n", "\0"],
  check(text) {
    for (const each of [text, `HTTP/1.1 200 OK\r\n${text}`]) {
      const whole = parseAnswer(each, true);
      if (whole.kind === "partial") throw new Error("no result at the end of the connection");
      const theirs = readByLlhttp(each);
      if (whole.kind === "answer" && theirs !== undefined) deepStrictEqual(told(whole.answer), theirs);
      deepStrictEqual(
        known(inPieces(each)),
        known(parseAnswer(each, false).kind === "partial" ? whole : parseAnswer(each, false)),
      );
    }
    for (const each of wellFormed(text)) {
      const parsed = parseAnswer(each, true);
      deepStrictEqual(parsed.kind === "answer" ? told(parsed.answer) : parsed, { status: 200, body: text });
      deepStrictEqual(readByLlhttp(each), { status: 200, body: text });
    }
  },
};

const stats: Grammar = {
  line: (random) =>
    random.pick([
      `listener.${listener(random)}.downstream_cx_active: ${number(random)}\n`,
      `listener.${listener(random)}.http.${listener(random)}.downstream_rq_completed: ${number(random)}\n`,
      `http.${listener(random)}.downstream_rq_active: ${number(random)}\n`,
      `http.${listener(random)}.downstream_cx_active: ${number(random)}\r\n`,
      "No recorded values\n",
    ]),
  words: [": ", "\n", ".http.", "listener.", "http.", ".downstream_cx_active", "_1"],
  check(text) {
    const counted = inFlightOf({ stats: parseStats(text) }, { leftOut: new Set(), ports: [], otherPorts: [] });
    if ((counted?.requests ?? 0) < 0 || (counted?.connections ?? 0) < 0) throw new Error("less than nothing in flight");
  },
};

const clusters: Grammar = {
  line: (random) => {
    const name = random.pick(["inbound|80||", "InboundPassthroughCluster", "outbound|80||a.b", "a::b", "", "inbound"]);
    const row = random.pick([
      "observability_name::x",
      "10.0.0.1:80::rq_active::",
      "[::1]:80::cx_active::",
      "rq_active::",
    ]);
    return `${name}::${row}${number(random)}${random.pick(["\n", "\r\n"])}`;
  },
  words: ["::", "\n", "::rq_active::", "::observability_name::", "inbound|"],
  check(text) {
    const count = createInboundCount(inbound);
    for (const piece of piecesOf(text)) count.take(piece);
    if (text.length <= LONGEST_LINE) deepStrictEqual(count.end(), countInbound(text, inbound));
  },
};

const dump: Grammar = {
  line: (random) =>
    random.pick([
      '{"configs":[',
      '{"listener":{"name":"a","address":{"socket_address":{"address":"::1","port_value":80}},"traffic_direction":"INBOUND"}}',
      '{"active_state":{"listener":{"stat_prefix":"x"}}}',
      ",",
      "]}",
      '{"listener_statuses":[{"name":"a","local_address":{"pipe":{"path":"/x"}}}]}',
      '{"state":"LIVE","version":"a/1.2/c","command_line_options":{},"node":{"id":"a","metadata":{}}}',
    ]),
  words: ["{", "}", "[", "]", '"', ",", "null", "1e999", "\\u0000", '"__proto__":'],
  check(text) {
    for (const each of [text, `{"configs":[${text}]}`, `{"listener_statuses":[${text}]}`]) {
      parseListenerDump(each);
      parseBoundListeners(each);
      parseServerInfo(each);
      identify("envoy", { status: 200, headers: new Map(), body: each, isReusable: false });
    }
  },
};

const proc: Grammar = {
  line: (random) =>
    random.pick([
      "   0: 0100007F:3A9E 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1337        0 1 1\n",
      "   1: 00000000000000000000000001000000:3A9E 0000000000000000FFFF00000100007F:9C41 01 0:1 0:0 0  0        0 2 1\n",
      "0000: 00000002 00000000 00010000 0001 01 42 /run/a.sock\n",
      "1 (a) b) S 0 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 5 0\n",
      "36 35 98:0 /var/lib/kubelet/pods/12345678-1234-1234-1234-123456789abc/etc-hosts /etc/hosts rw - ext4 / rw\n",
      "# Kubernetes-managed hosts file.\n",
    ]),
  words: [" ", ":", "\n", "(", ")", "/pods/", "FFFFFFFF", "/etc/hosts "],
  check(text) {
    summarizeSockets({ tcp: text, tcp6: text, unix: text }, new Map());
    parseListeners(text);
    parseStat(text);
    networkByHosts(text, text);
  },
};

const escapes: Readonly<Record<string, string>> = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\0": "\\x00" };

const annotations: Grammar = {
  line: (random) =>
    `${random.pick(["a", "ebb.dev/drain", "", "=", "é"])}="${random.pick(["true", "\\n", "\\u00e9", '\\"', "\\"])}"\n`,
  words: ['"', "=", "\\", "\n", "\\x", "\\U00110000", "\\u"],
  check(text) {
    parseAnnotations(text);
    // what Go's %q writes is read back
    const quoted = text.replaceAll(/["\\\n\t\0]/g, (character) => escapes[character] as string).replaceAll("\r", "\\r");
    if (/[\u2028\u2029]/.test(text)) return;
    deepStrictEqual(parseAnnotations(`a="${quoted}"\n`).get("a"), text);
  },
};

const byte = (random: Random) => String.fromCharCode(random.int(0, 255));

const health: Grammar = {
  // fields of a message of protobuf's: a number, eight and four bytes, a text; the status is field 1
  line: (random) =>
    random.pick([
      `\x08${random.pick(["\0", "\x01", "\x02", "\x81\0"])}`,
      `\x10\xff\xff\x03`,
      `\x21${byte(random).repeat(8)}`,
      `\x2d${byte(random).repeat(4)}`,
      `\x1a\x02${byte(random)}\x01`,
    ]),
  words: ["\x08", "\x01", "\xff", "\x80", "\0\0\0\0", "\x1a\x7f"],
  check(text) {
    const message = Buffer.from(text.slice(0, 60_000), "latin1");
    const prefix = Buffer.from([0, 0, 0, message.length >> 8, message.length & 0xff]);
    const of = (body: Uint8Array) =>
      judgeHealth({ status: 200, contentType: "application/grpc", grpcStatus: "0", grpcMessage: "", body }, "");
    of(message);
    const verdict = of(Buffer.concat([prefix, message]));
    if (verdict.ready || !verdict.reason.startsWith("its health service")) return;
    // a last status of SERVING wins over all that was said before
    const more = Buffer.concat([message, Buffer.from([8, 1])]);
    const whole = Buffer.concat([Buffer.from([0, 0, 0, more.length >> 8, more.length & 0xff]), more]);
    deepStrictEqual(of(whole), { ready: true });
  },
};

const ofPods = { http, stats, clusters, dump, proc, annotations, health };
/** The grammars, by name. */
export const grammars: Readonly<Record<string, Grammar>> = { ...ofPods, ...clusterGrammars, ...imageGrammars };

/** Makes the input of a seed: always the same. */
export function inputOf({ line, words }: Grammar, seed: number): string {
  return textOf(randomOf(seed), line, words);
}

/** Makes a text of one to eight lines; then up to three places are damaged, repeated or cut out. */
function textOf(random: Random, line: (random: Random) => string, words: readonly string[]): string {
  let text = "";
  for (let left = random.int(0, 7); left >= 0; left -= 1) text += line(random);
  for (let left = random.int(0, 3); left > 0; left -= 1) text = damaged(random, text, words);
  return text;
}

function damaged(random: Random, text: string, words: readonly string[]): string {
  const at = random.int(0, text.length);
  const end = at + random.int(0, 9);
  const kind = random.int(0, 3);
  if (kind === 0) return text.slice(0, at) + random.pick(words) + text.slice(at);
  if (kind === 1) return text.slice(0, at) + text.slice(end);
  if (kind === 2) return text.slice(0, at) + text.slice(at, end).repeat(random.int(0, 1999)) + text.slice(end);
  return text.slice(0, at) + String.fromCharCode(random.int(0, 255)) + text.slice(at);
}

import { describe, expect, test } from "bun:test";
import { parseHttpTarget } from "../../../../../src/shared/core/address.ts";
import { excerpt, type Header, type HttpAnswer } from "../../../../../src/shared/http/core/http-framing.ts";
import { encodeRequest, parseAnswer } from "../../../../../src/shared/http/core/http-message.ts";

test.each<[string, string, readonly Header[], readonly string[]]>([
  [
    "GET",
    "http://localhost:15000/ready?x=1",
    [],
    ["GET /ready?x=1 HTTP/1.1", "Host: localhost:15000", "User-Agent: ebb"],
  ],
  ["HEAD", "http://[::1]:9901", [], ["HEAD / HTTP/1.1", "Host: [::1]:9901", "User-Agent: ebb"]],
  ["POST", "unix:/a", [], ["POST / HTTP/1.1", "Host: localhost", "User-Agent: ebb", "Content-Length: 0"]],
  [
    "POST",
    "http://h:1/quit",
    [
      ["dapr-api-token", "abc"],
      ["X", ""],
    ],
    ["POST /quit HTTP/1.1", "Host: h:1", "User-Agent: ebb", "Content-Length: 0", "dapr-api-token: abc", "X: "],
  ],
])("%s %s is sent as RFC 9112 has it", (method, url, headers, lines) => {
  const target = parseHttpTarget(url);
  if (target === undefined) throw new Error(`not a URL: ${url}`);
  expect(encodeRequest({ method, target, headers })).toBe([...lines, "", ""].join("\r\n"));
});

const ok = "HTTP/1.1 200 OK\r\n";
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`;

function read(text: string, isEnd = false): HttpAnswer {
  const parsed = parseAnswer(text, isEnd);
  if (parsed.kind !== "answer") throw new Error(`${parsed.kind}: ${text}`);
  return parsed.answer;
}

describe("an answer is complete", () => {
  test.each<[string, string, number, string]>([
    ["when its content-length has come", `${ok}Content-Length: 5\r\n\r\nLIVE\n`, 200, "LIVE\n"],
    ["when it has no bytes to wait for", `${ok}content-length:0\r\n\r\n`, 200, ""],
    ["and what comes after it is not its own", `${ok}Content-Length: 2\r\n\r\nOKHTTP`, 200, "OK"],
    ["without a reason phrase", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", 200, ""],
    ["with an empty reason phrase", "HTTP/1.1 503 \r\nContent-Length: 0\r\n\r\n", 503, ""],
    ["with status 204, whatever its headers say", "HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n", 204, ""],
    ["with status 304, whatever its headers say", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304, ""],
    ["after a 100", `HTTP/1.1 100 Continue\r\n\r\n${ok}Content-Length: 2\r\n\r\nOK`, 200, "OK"],
    [
      "after several 1xx with headers",
      `HTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 199 x\r\n\r\n${chunked}0\r\n\r\n`,
      200,
      "",
    ],
    ["with its last chunk", `${chunked}5\r\nLIVE\n\r\n3\r\nabc\r\n0\r\n\r\n`, 200, "LIVE\nabc"],
    ["with a chunk size in capital hexadecimal", `${chunked}A\r\n0123456789\r\n0\r\n\r\n`, 200, "0123456789"],
    ["with chunk extensions", `${chunked}2;a=b\r\nok\r\n0 ;c\r\n\r\n`, 200, "ok"],
    ["with trailers", `${chunked}2\r\nok\r\n0\r\nX: y\r\nZ: a\r\n\r\n`, 200, "ok"],
    ["with line ends inside a chunk", `${chunked}4\r\n\r\n\r\n\r\n0\r\n\r\n`, 200, "\r\n\r\n"],
    [
      "chunked in a line after another coding",
      `${ok}Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nz\r\n0\r\n\r\n`,
      200,
      "z",
    ],
    ["chunked after another coding", `${ok}Transfer-Encoding: gzip, Chunked\r\n\r\n1\r\nz\r\n0\r\n\r\n`, 200, "z"],
    [
      "chunked, and content-length does not count",
      `${ok}Content-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      200,
      "",
    ],
  ])("%s", (_, text, status, body) => {
    expect(read(text)).toMatchObject({ status, body });
    expect(read(text, true)).toMatchObject({ status, body });
  });

  test("when the connection is closed, where nothing else says so", () => {
    expect(parseAnswer(`${ok}\r\nLIVE\n`, false)).toEqual({ kind: "partial" });
    expect(read(`${ok}\r\nLIVE\n`, true)).toMatchObject({ body: "LIVE\n", isReusable: false });
    expect(read(`${ok}\r\n`, true)).toMatchObject({ body: "", isReusable: false });
  });
});

test("header names are in lower case, and values without blanks around them", () => {
  const { headers } = read(`${ok}X-Envoy:  a b \t\r\nLOCATION:/x:y\r\nContent-Length: 0\r\nEmpty:\r\n\r\n`);
  expect(Object.fromEntries(headers)).toEqual({ "x-envoy": "a b", location: "/x:y", "content-length": "0", empty: "" });
});

describe("the connection carries another request", () => {
  test.each<[string, string, boolean]>([
    ["after a sized answer", `${ok}Content-Length: 0\r\n\r\n`, true],
    ["after a chunked answer", `${chunked}0\r\n\r\n`, true],
    ["after an answer without a body", "HTTP/1.1 204 No Content\r\n\r\n", true],
    ["when it is to be kept alive", `${ok}Connection: keep-alive\r\nContent-Length: 0\r\n\r\n`, true],
    ["but not when it says close", `${ok}Connection: close\r\nContent-Length: 0\r\n\r\n`, false],
    [
      "but not when one line of two says close",
      `${ok}Connection: close\r\nConnection: x\r\nContent-Length: 0\r\n\r\n`,
      false,
    ],
    ["but not when it says Close among others", `${ok}Connection: x, Close\r\nContent-Length: 0\r\n\r\n`, false],
    ["but not with HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", false],
  ])("%s", (_, text, isReusable) => {
    expect(read(text).isReusable).toBe(isReusable);
  });
});

describe("an answer that breaks off is partial, and garbage once the connection is closed:", () => {
  test.each<[string, string]>([
    ["nothing at all", ""],
    ["the first letters", "HTT"],
    ["half a status line", "HTTP/1.1 20"],
    ["a head without its end", `${ok}Content-Length: 0\r\n`],
    ["a head with half its end", `${ok}Content-Length: 0\r\n\r`],
    ["a 1xx alone", "HTTP/1.1 100 Continue\r\n\r\n"],
    ["a body that is too short", `${ok}Content-Length: 5\r\n\r\nLIVE`],
    ["no chunk", chunked],
    ["half a chunk size", `${chunked}5`],
    ["half a chunk", `${chunked}5\r\nLIV`],
    ["a chunk without its line end", `${chunked}5\r\nLIVE\n\r`],
    ["no last chunk", `${chunked}5\r\nLIVE\n\r\n`],
    ["a last chunk without its line end", `${chunked}0\r\n`],
    ["half a trailer", `${chunked}0\r\nX: y\r\n`],
  ])("%s", (_, text) => {
    expect(parseAnswer(text, false)).toEqual({ kind: "partial" });
    const reason = "the connection was closed before the answer was complete";
    expect(parseAnswer(text, true)).toEqual({ kind: "garbage", reason });
  });
});

describe("what is not HTTP is garbage as soon as that is seen, and says what came:", () => {
  test.each<[string, string, string]>([
    ["another protocol", "SSH-2.0-OpenSSH", 'not HTTP: "SSH-2.0-OpenSSH"'],
    ["one wrong letter", "x", 'not HTTP: "x"'],
    ["lower case", "http/1.1", 'not HTTP: "http/1.1"'],
    ["TLS", "\x15\x03\x01\x00\x02\x02", 'not HTTP: " "'],
    ["HTTP/2", "HTTP/2 200\r\n\r\n", 'not HTTP: "HTTP/2 200"'],
    ["HTTP/1.2", "HTTP/1.2 200 OK\r\n\r\n", 'not HTTP: "HTTP/1.2 200 OK"'],
    ["a status of two digits", "HTTP/1.1 99 x\r\n\r\n", 'not HTTP: "HTTP/1.1 99 x"'],
    ["a status above 599", "HTTP/1.1 600 x\r\n\r\n", 'not HTTP: "HTTP/1.1 600 x"'],
    ["a status with more digits", "HTTP/1.1 2000\r\n\r\n", 'not HTTP: "HTTP/1.1 2000"'],
    ["a length that is no number", `${ok}Content-Length: -1\r\n\r\n`, 'not HTTP: content-length "-1"'],
    ["two lengths", `${ok}Content-Length: 5, 6\r\n\r\n`, 'not HTTP: content-length "5, 6"'],
    ["a chunk size that is no number", `${chunked}x\r\n`, 'not HTTP: chunk size "x"'],
    ["no chunk size", `${chunked}\r\n`, 'not HTTP: chunk size ""'],
    ["a chunk size that is too long", `${chunked}123456789\r\n`, 'not HTTP: chunk size "123456789"'],
    ["a chunk without its end", `${chunked}2\r\nabcd`, "not HTTP: a chunk that is longer than it says"],
    ["another answer's garbage after a 100", "HTTP/1.1 100 x\r\n\r\nSSH", 'not HTTP: "SSH"'],
  ])("%s", (_, text, reason) => {
    expect(parseAnswer(text, false)).toEqual({ kind: "garbage", reason });
  });
});

test.each([
  ["LIVE\n", '"LIVE"'],
  ["a\r\n\x00b\x7fc", '"a b c"'],
  ['say "no"', '"say \\"no\\""'],
  ["x".repeat(60), `"${"x".repeat(60)}"`],
  ["x".repeat(61), `"${"x".repeat(60)}..."`],
  ["", '""'],
])("an excerpt of %j is %s", (text, line) => {
  expect(excerpt(text)).toBe(line);
});

test("an excerpt is as long as it is asked to be", () => {
  expect(excerpt("abcdef", 3)).toBe('"abc..."');
});

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseListeners } from "../../../../../src/shared/http/core/listening.ts";
import { parseAnnotations } from "../../../../../src/shared/sidecars/core/detect.ts";

type Table = Readonly<Record<string, string>>;

describe("an annotations file is read as the kubelet writes it", () => {
  test.each<[string, Table]>([
    ["", {}],
    ['a="b"', { a: "b" }],
    ['a="b"\n', { a: "b" }],
    ['a="b"\nc.d/e-f="g"\n', { a: "b", "c.d/e-f": "g" }],
    ['a=""', { a: "" }],
    ['a="x=y"', { a: "x=y" }],
    ['s="{\\"containers\\":[\\"istio-proxy\\"]}"', { s: '{"containers":["istio-proxy"]}' }],
    ['a="back\\\\slash \\\\n"', { a: "back\\slash \\n" }],
    ['a="\\a\\b\\f\\n\\r\\t\\v"', { a: "\x07\b\f\n\r\t\v" }],
    ['a="\\x00\\x7f"', { a: "\0\x7f" }],
    ['a="\\u2028 \\ufeff"', { a: "\u2028 \ufeff" }],
    ['a="\\U000e0001 \\U0010ffff"', { a: "\u{e0001} \u{10ffff}" }],
    ['a="é☃😀"', { a: "é☃😀" }],
    ['nothing\n="b"\na=b\nc="d"', { c: "d" }],
  ])("%j", (text, annotations) => {
    expect(Object.fromEntries(parseAnnotations(text))).toEqual(annotations);
  });

  test("any annotations come back as they were", () => {
    const key = fc.stringMatching(/^[a-z0-9./-]{1,12}$/);
    const table = fc.dictionary(key, fc.oneof(fc.string(), fc.string({ unit: "binary" })), { noNullPrototype: true });
    fc.assert(
      fc.property(table, (table) => {
        const read = parseAnnotations(
          Object.entries(table)
            .map(([k, v]) => `${k}=${goQuote(v)}\n`)
            .join(""),
        );
        expect([...read]).toEqual(Object.entries(table));
      }),
    );
  });

  test("no text makes it throw", () => {
    const escaped = fc.stringMatching(/^(\\U[0-9a-f]{8}|\\[xun"\\][0-9a-f]{0,9})$/);
    const text = fc.oneof(fc.string(), escaped, fc.string({ unit: "binary" })).map((value) => `key="${value}"`);
    fc.assert(
      fc.property(fc.oneof(fc.string(), text), (text) => {
        expect(parseAnnotations(text)).toBeInstanceOf(Map);
      }),
    );
  });
});

/** As Go's strconv.Quote: what cannot be printed is escaped. */
function goQuote(text: string): string {
  const short: Table = {
    "\x07": "a",
    "\b": "b",
    "\f": "f",
    "\n": "n",
    "\r": "r",
    "\t": "t",
    "\v": "v",
    "\\": "\\",
    '"': '"',
  };
  const quoted = [...text].map((letter) => {
    const code = letter.codePointAt(0) as number;
    if (short[letter] !== undefined) return `\\${short[letter]}`;
    if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, "0")}`;
    if (!/[\p{C}\p{Z}]/u.test(letter) || letter === " ") return letter;
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
  return `"${quoted.join("")}"`;
}

describe("the sockets that listen are read from the kernel's tables", () => {
  const title = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
  const rest = "00000000:00000000 00:00000000 00000000  1337        0 74478 1 000000005dc16c81 100 0 0 10 0\n";
  const v4 = "0100007F";
  const v6 = "00000000000000000000000001000000";

  const mapped = (address: string) => `0000000000000000FFFF0000${address}`;

  test.each<[string, string, readonly number[]]>([
    ["no table", "", []],
    ["an empty table", title, []],
    ["IPv4, any address", `${title}   0: 00000000:3AAD 00000000:0000 0A ${rest}`, [15021]],
    ["IPv4, loopback", `${title}   0: ${v4}:3A98 00000000:0000 0A ${rest}`, [15000]],
    ["IPv6, loopback", `${title}   0: ${v6}:105F ${"0".repeat(32)}:0000 0A ${rest}`, [4191]],
    ["IPv6, any address", `${title}   0: ${"0".repeat(32)}:105F ${"0".repeat(32)}:0000 0A ${rest}`, [4191]],
    ["IPv4 on a socket for both", `${title}   0: ${mapped(v4)}:105F ${"0".repeat(32)}:0000 0A ${rest}`, [4191]],
    ["a low port", `${title}   0: ${v4}:0050 00000000:0000 0A ${rest}`, [80]],
    ["a row number of many digits", `${title}12345: ${v4}:0050 00000000:0000 0A ${rest}`, [80]],
    [
      "several rows, of which some are connections",
      `${title}   0: ${v4}:26AD 00000000:0000 0A ${rest}   1: ${v4}:C206 ${v4}:3A98 01 ${rest}   2: ${v4}:1F90 ${v4}:3A98 06 ${rest}  10: 00000000:FFFF 00000000:0000 0A ${rest}`,
      [9901, 65535],
    ],
  ])("%s", (_, table, listeners) => {
    expect(parseListeners(table)).toEqual(listeners);
  });
});

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  describeTarget,
  exactUrl,
  type HttpTarget,
  hostsToDial,
  isLoopback,
  nameIn,
  parseHttpTarget,
  parseUnix,
  withPath,
} from "../../../../src/shared/core/address.ts";

const tcp = (host: string, port: number) => ({ kind: "tcp", host, port }) as const;
const unix = (path: string) => ({ kind: "unix", path }) as const;

function read(text: string): HttpTarget {
  const target = parseHttpTarget(text);
  if (target === undefined) throw new Error(`not a target: ${text}`);
  return target;
}

describe("a URL says where a request goes", () => {
  test.each<[string, HttpTarget["address"], string, string]>([
    ["http://localhost:15000/path?a=b", tcp("localhost", 15000), "localhost:15000", "/path?a=b"],
    ["http://127.0.0.1:15020", tcp("127.0.0.1", 15020), "127.0.0.1:15020", "/"],
    ["http://example.com", tcp("example.com", 80), "example.com", "/"],
    ["http://example.com:80/x", tcp("example.com", 80), "example.com", "/x"],
    ["HTTP://LocalHost:8080/X", tcp("localhost", 8080), "localhost:8080", "/X"],
    ["http://[::1]:9901/ready", tcp("::1", 9901), "[::1]:9901", "/ready"],
    ["http://[::1]/", tcp("::1", 80), "[::1]", "/"],
    ["http://h:1/a#part", tcp("h", 1), "h:1", "/a"],
    ["http://h:65535/", tcp("h", 65535), "h:65535", "/"],
    ["unix:/admin.sock", unix("/admin.sock"), "localhost", "/"],
    ["unix:///var/run/admin.sock", unix("/var/run/admin.sock"), "localhost", "/"],
  ])("%s", (text, address, authority, path) => {
    expect(parseHttpTarget(text)).toEqual({ address, isSecure: false, authority, path });
  });

  test.each<[string, number]>([
    ["https://example.com/", 443],
    ["https://example.com:8443/", 8443],
    ["HTTPS://example.com", 443],
  ])("%s, with TLS", (text, port) => {
    expect(parseHttpTarget(text)).toMatchObject({ address: tcp("example.com", port), isSecure: true });
  });
});

test.each([
  "",
  ..."localhost:15000 //localhost:15000 http: http:// http:///path http:/host http://host:0/".split(" "),
  ..."http://host:65536/ http://host:port/ http://[::1/ ftp://host/ tcp://host:1 file:/ready unix:".split(" "),
  ..."unix:relative.sock unix:/ auto".split(" "),
])("%p is not a place to send a request to", (text) => {
  expect(parseHttpTarget(text)).toBeUndefined();
});

test.each([
  ["unix:/a.sock", "/a.sock"],
  ["unix:///a.sock", "/a.sock"],
  ["unix:/with space.sock", "/with space.sock"],
])("%s is the socket %s", (text, path) => {
  expect(parseUnix(text)).toEqual(unix(path));
});

test.each(["/a.sock", "unix:a.sock", "UNIX:/a.sock", "xunix:/a.sock", "http://a/"])("%p is not a socket", (text) => {
  expect(parseUnix(text)).toBeUndefined();
});

test.each([
  ["http://h:1", "/ready", "http://h:1/ready"],
  ["http://h:1/", "/ready", "http://h:1/ready"],
  ["http://h:1/prefix", "/ready", "http://h:1/prefix/ready"],
  ["http://h:1/prefix//", "/ready", "http://h:1/prefix/ready"],
  ["https://[::1]:1", "/x?y", "https://[::1]:1/x?y"],
  ["unix:/a.sock", "/ready", "unix:/a.sock /ready"],
])("%s, asked for %s, is %s", (base, path, described) => {
  expect(describeTarget(withPath(read(base), path))).toBe(described);
});

test("localhost is both loopbacks, and any other host is itself", () => {
  expect(hostsToDial({ kind: "tcp", host: "localhost", port: 1 })).toEqual(["127.0.0.1", "::1"]);
  expect(hostsToDial({ kind: "tcp", host: "127.0.0.1", port: 1 })).toEqual(["127.0.0.1"]);
  expect(hostsToDial({ kind: "tcp", host: "localhost.example", port: 1 })).toEqual(["localhost.example"]);
});

test.each([
  [tcp("localhost", 1), true],
  [tcp("127.9.0.1", 1), true],
  [tcp("::1", 1), true],
  [tcp("::ffff:7f00:1", 1), true],
  [unix("/a.sock"), true],
  [tcp("127.example.com", 1), false],
  [tcp("127.0.0.1.example.com", 1), false],
  [tcp("10.0.0.1", 1), false],
])("whether it is in this pod: %j", (address, expected) => {
  expect(isLoopback(address)).toBe(expected);
});

test.each([
  [tcp("db", 1), "db"],
  [tcp("10.example.com", 1), "10.example.com"],
  [tcp("localhost", 1), undefined],
  [tcp("10.0.0.1", 1), undefined],
  [tcp("fd00::1", 1), undefined],
  [unix("/a.sock"), undefined],
])("the name to look up: %j", (address, name) => {
  expect(nameIn(address)).toBe(name);
});

test("no text can put a second line, or a space, into a request's first lines", () => {
  const piece = fc.constantFrom(
    "http://",
    "https://",
    "unix:/",
    "host",
    ":80",
    "/",
    " ",
    "\r\n",
    "\t",
    "?",
    "%",
    "é",
    "\0",
  );
  const text = fc.oneof(
    fc.webUrl(),
    fc.string(),
    fc.array(piece, { maxLength: 8 }).map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(text, (text) => {
      const target = parseHttpTarget(text);
      expect(`${target?.authority ?? ""}${target?.path ?? ""}`).toMatch(/^[!-~]*$/);
    }),
  );
});

test("the exact URL of a target is read back as the same target", () => {
  fc.assert(
    fc.property(fc.webUrl({ withQueryParameters: true }), (url) => {
      const target = read(url);
      expect(parseHttpTarget(exactUrl(target))).toEqual(target);
    }),
  );
});

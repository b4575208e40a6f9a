import { describe, expect, test } from "bun:test";
import { addressesInHosts, namesToAsk, parseResolvConf } from "../../../../../src/shared/http/core/resolv-conf.ts";

// that glibc does the same: test/binary/sidecars/names.test.ts

describe("of /etc/resolv.conf", () => {
  test("a pod's is read", () => {
    const text = "search ns.svc.cluster.local svc.cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n";
    const search = ["ns.svc.cluster.local", "svc.cluster.local"];
    expect(parseResolvConf(text)).toEqual({ search, ndots: 5, timeoutMs: 5000, attempts: 2 });
  });

  test("an empty one has glibc's defaults", () => {
    expect(parseResolvConf("")).toEqual({ search: [], ndots: 1, timeoutMs: 5000, attempts: 2 });
  });

  test.each([
    ["options timeout:2 attempts:3", { timeoutMs: 2000, attempts: 3 }],
    ["options timeout:0 attempts:0", { timeoutMs: 1000, attempts: 1 }],
    ["options timeout:99 attempts:99 ndots:99", { timeoutMs: 30_000, attempts: 5, ndots: 15 }],
    ["options edns0 rotate\noptions ndots:2", { ndots: 2 }],
    ["options ndots:x", { ndots: 0 }],
    ["search a b\ndomain c d", { search: ["c"] }],
    ["domain c\nsearch a b", { search: ["a", "b"] }],
    ["search a\nsearch", { search: ["a"] }],
    ["search .a b. .", { search: ["a", "b", ""] }],
    ["\tsearch a\n#search b\n;search c\nsearching d", { search: [] }],
    [`search ${"long.example ".repeat(100)}`, { search: Array(100).fill("long.example") }],
  ])("%j", (text, expected) => {
    expect(parseResolvConf(text)).toMatchObject(expected);
  });
});

test.each([
  ["db", ["a", "b"], 5, ["db.a", "db.b", "db"]],
  ["db.ns", ["a"], 1, ["db.ns", "db.ns.a"]],
  ["db.ns", ["a"], 2, ["db.ns.a", "db.ns"]],
  ["db.ns.", ["a"], 5, ["db.ns"]],
  ["db", ["a", "", "b"], 5, ["db.a", "db", "db.b"]],
  ["db", [], 5, ["db"]],
])("%s in %j with ndots %d is asked for as %j", (name, search, ndots, names) => {
  expect(namesToAsk(name, { search, ndots })).toEqual(names);
});

test("of /etc/hosts, all addresses of a name count, and no comments", () => {
  const hosts =
    "127.0.0.1 localhost\n10.0.0.7\tweb-0.web  web-0 # db\n#10.0.0.8 db\n\n10.0.0.9 DB\nfd00::9 db db.ns\nno db\n";
  expect(addressesInHosts(hosts, "db")).toEqual(["10.0.0.9", "fd00::9"]);
  expect(addressesInHosts(hosts, "web-0")).toEqual(["10.0.0.7"]);
  expect(addressesInHosts(hosts, "web")).toEqual([]);
});

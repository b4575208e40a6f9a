import { describe, expect, test } from "bun:test";
import { readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { bunParts } from "../../../build/bundle/bun-parts.ts";
import { bundledPackages } from "../../../build/bundle/bundled.ts";
import { type Component, componentsOf } from "../../../build/evidence/components.ts";
import { licenseText } from "../../../build/evidence/license-text.ts";
import { muslVersion } from "../../../build/link/archives.ts";
import { targetNamed } from "../../../build/targets.ts";
import { temporaryFolder } from "../../harness/ebb.ts";

const project = resolve(import.meta.dirname, "../../..");

test("the npm packages of the bundle are those with code in it, whether it starts with them or loads them later", async () => {
  const packages = await bundledPackages(join(project, "src", "main.ts"), join(project, "package-lock.json"));
  const names = packages.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["@pinojs/redact", "p-retry", "pino", "prom-client", "yaml", "zod"]));
  expect(names.filter((name) => ["undici", "sonic-boom", "typescript", "bun"].includes(name))).toEqual([]);
  for (const { text, version, license, sha512 } of packages) {
    expect([text, version, license]).toEqual([
      expect.stringContaining("Copyright"),
      expect.stringMatching(/^\d+\./),
      expect.stringMatching(/^(MIT|ISC|0BSD|Apache-2\.0|BSD-[23]-Clause|BlueOak-1\.0\.0)$/),
    ]);
    expect(sha512).toMatch(/^[0-9a-f]{128}$/);
  }
});

test("what is imported, but not used, is not in the bundle", async () => {
  using folder = temporaryFolder();
  const entry = join(folder.path, "entry.ts");
  symlinkSync(join(project, "node_modules"), join(folder.path, "node_modules"));
  writeFileSync(entry, 'import retry from "p-retry"; import { string } from "zod/mini"; console.log(retry);');
  const packages = await bundledPackages(entry, join(project, "package-lock.json"));
  expect(packages.map(({ name }) => name)).toEqual(["is-network-error", "p-retry"]);
});

describe("of what Bun holds", () => {
  const files = readdirSync(join(project, "build", "licenses"));

  test("each has the text of its licence, and no text is there for nothing", () => {
    const ofLibraries = ["bun", "musl", "GCC-exception-3.1", "GPL-3.0"];
    const wanted = new Set([...bunParts.flatMap(({ texts }) => texts), ...ofLibraries]);
    expect([...wanted].map((name) => `${name}.txt`).toSorted()).toEqual(files.toSorted());
    expect(bunParts.filter(({ texts }) => texts.length === 0)).toEqual([]);
  });

  test.each(["x64", "darwin-arm64", "desk"])("for %s there is only what is in its own Bun", async (name) => {
    const [entry, lockfile] = [join(project, "src", "desk", "main.ts"), join(project, "package-lock.json")];
    const components = await componentsOf({ entry, lockfile, target: targetNamed(name) });
    const parts = components.flatMap((each) => each.parts).map((each) => each.name);
    const ofLinux = ["icu", "libc++abi (__cxa_thread_atexit)", "linux-raw-sys"];
    expect(parts.filter((part) => ofLinux.includes(part))).toEqual(name.startsWith("darwin") ? [] : ofLinux);
    expect(parts).toContain("rustix");
  });

  test("nothing is named twice", () => {
    const names = bunParts.map((part) => part.package);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test("Bun tells the versions of what has a key, and no other libraries' than these", () => {
    const ofBunItself = ["node", "bun", "openssl", "v8", "uv", "napi", "unicode", "modules", "zig"];
    const ofItsRepository = ["uwebsockets", "usockets"];
    const keys = bunParts.flatMap(({ versionKey = [] }) => versionKey);
    const told = Object.keys(process.versions).filter((key) => ![...ofBunItself, ...ofItsRepository].includes(key));
    expect(keys.toSorted()).toEqual(told.toSorted());
  });
});

describe("musl's version", () => {
  const archive = (name: string, content: string) => Buffer.from(`!<arch>\n${name.padEnd(60)}${content}`, "latin1");

  test("is that of the member of libc.a which tells it", () => {
    expect(muslVersion(archive("version.lo/", "\x7fELF\0\x001.2.30\0"))).toBe("1.2.30");
  });

  test.each([
    ["no such member", archive("versionsort.lo/", "1.2.3")],
    ["a member that does not tell it", archive("version.lo/", "nothing")],
  ])("is refused where there is %s", (_, libc) => {
    expect(() => muslVersion(libc)).toThrow("does not tell musl's version");
  });
});

test("what --licenses prints is a list of all, parts indented, then each text once below the names of what it covers", () => {
  const component = (name: string, version: string | undefined, texts: string[], parts: Component[] = []) => {
    return { name, version, license: `${name}'s licence`, texts, purl: "", hash: undefined, parts };
  };
  const inner = component("inner", "0123456789abcdef0123456789abcdef01234567", ["the shared text"]);
  const text = licenseText(component("own", "1.0.0", ["the own text"]), [
    component("outer", "2", ["the shared text", "the outer text"], [inner]),
    component("last", undefined, ["the own text"]),
  ]);
  const [head = "", ...sections] = text.split(`\n${"=".repeat(100)}\n`);
  expect(head.split("\n").slice(2)).toEqual([
    "  own 1.0.0             own's licence",
    "  outer 2               outer's licence",
    "    inner 0123456789ab  inner's licence",
    "  last                  last's licence",
    "",
  ]);
  expect(sections.map((section) => section.replaceAll(/-{100}\n\n/g, ""))).toEqual([
    "own, last\nthe own text\n",
    "outer, inner\nthe shared text\n",
    "outer\nthe outer text\n",
  ]);
});

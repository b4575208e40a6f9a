import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { cacheFolder } from "../../../build/setup/cache.mjs";
import { ebbPath } from "../../harness/ebb.ts";

const project = resolve(import.meta.dirname, "../../..");

/** Type and flags of each program header, as binutils reads them: a second opinion on what build/verify.ts says. */
function programHeaders(path: string): readonly { readonly type: string; readonly flags: string }[] {
  const { stdout } = spawnSync("readelf", ["-lW", path], { encoding: "utf8", env: { ...process.env, LC_ALL: "C" } });
  const line = /^ {2}(\w+) +0x\w+ 0x\w+ 0x\w+ 0x\w+ 0x\w+ (.{3}) /gm;
  return [...stdout.matchAll(line)].map(([, type = "", flags = ""]) => ({ type, flags: flags.replaceAll(" ", "") }));
}

test("no segment of the file is both writable and executable, the stack is not executable, and no loader is asked for", () => {
  const headers = programHeaders(ebbPath);
  const flagsOf = (wanted: string) => headers.flatMap(({ type, flags }) => (type === wanted ? [flags] : []));
  expect([...new Set(flagsOf("LOAD"))].toSorted()).toEqual(["R", "RE", "RW"]);
  expect(flagsOf("GNU_STACK")).toEqual(["RW"]);
  expect([...flagsOf("INTERP"), ...flagsOf("DYNAMIC")]).toEqual([]);
});

test("nothing in the executable tells where it was built", () => {
  const bytes = readFileSync(ebbPath);
  const places = [`${project}/src/`, `${project}/build/`, `${project}/node_modules/`, cacheFolder()];
  for (const place of [...places, "ebb-build-", "ebb-link-"])
    expect([place, bytes.indexOf(place)]).toEqual([place, -1]);
});

test("anybody may execute the executable, its owner alone may write to it, and it gives no rights", () => {
  expect((statSync(ebbPath).mode & 0o7777).toString(8)).toBe("755");
});

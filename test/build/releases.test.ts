import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { runInEmptyRoot } from "../../build/image/empty-root.ts";
import { linkStatic } from "../../build/link/link-static.ts";
import { fetchBun, fetchMuslBun, type Locked } from "../../build/link/musl-bun.ts";
import { verify } from "../../build/verify.ts";
import { temporaryFolder } from "../harness.ts";
import { x64 } from "./link/small-elf.ts";

setDefaultTimeout(120_000);

const sources = [resolve(import.meta.dirname, "../../build/link/glue.c")];

const next: Locked = {
  version: "1.4.4",
  integrity: "sha512-lEEjNOJJrbGZu2NVcPI4uXdILcpspezWkA8R/Jr0RCGhM6zQd0Y7JBIIKNAmbX59EeWpeEz7Q78iLbpcAUypUA==",
};
const newest: Locked = {
  version: "1.4.5",
  integrity: "sha512-10QoW/YfTgnURaGEaHpJCiXjLI2e5iTtfVDaA5JKcyUzaa1cq6cVUY9/Uq5XkYzvtRjHLRe9Oj/lTDIQcxy8HQ==",
};
/** Of another compiler: it shares variables with libstdc++ that the runtime would have a second time. */
const old: Locked = {
  version: "1.3.14",
  integrity: "sha512-GBCB/k/sIqcr06eTNgg7g46qiUv35Jasx4XiccJ/n7RGqrE4RWUD/XJBbWFprVPjvqd59+QtSnS99XGqvftHfg==",
};

const lockfile = resolve(import.meta.dirname, "../../package-lock.json");

function sizeOf(path: string): number {
  return statSync(path).size;
}

/** The path of a release; undefined, with the reason, where npm cannot fetch it. One with another digest is an error. */
function fetched(release: Locked): string | undefined {
  try {
    return fetchBun(x64.bunPackage, release);
  } catch (error) {
    if (!/npm .* failed/.test(String(error))) throw error;
    console.log(`skipped: Bun ${release.version} cannot be fetched: ${error}`);
    return undefined;
  }
}

describe.each([
  ["the release after the one that ebb is built with", next],
  ["the newest release", newest],
])("%s", (_, release) => {
  const path = fetched(release);

  test.skipIf(path === undefined)("links and runs in an empty root folder", () => {
    const input = new Uint8Array(readFileSync(path ?? ""));
    const linked = linkStatic({ bytes: input, name: `Bun ${release.version}`, sources, target: x64 });
    verify({ input, output: linked.bytes, patches: linked.patches, target: x64 });
    using folder = temporaryFolder();
    const bun = join(folder.path, "bun");
    writeFileSync(bun, linked.bytes, { mode: 0o755 });
    expect(runInEmptyRoot(bun, ["--version"], x64).stdout).toBe(`${release.version}\n`);
    const program =
      "const { serve, fetch } = Bun; const server = serve({ port: 0, fetch: () => new Response('heard') });";
    const client = "console.log(await (await fetch(server.url)).text(), new Date(0).getTime()); server.stop();";
    expect(runInEmptyRoot(bun, ["--eval", `${program} ${client}`], x64).stdout).toBe("heard 0\n");
  });

  test.skipIf(path === undefined)("is larger than that one: build/BUN.md says to pin the smallest", () => {
    expect(sizeOf(path ?? "")).toBeGreaterThan(sizeOf(fetchMuslBun(x64, lockfile)));
  });
});

describe("a release that another compiler has made", () => {
  const path = fetched(old);

  test.skipIf(path === undefined)("is refused with the names of all that is in the way", () => {
    const bytes = new Uint8Array(readFileSync(path ?? ""));
    expect(() => linkStatic({ bytes, name: "Bun", sources, target: x64 })).toThrow(/"_ZSt4cerr".*sharedVariables/);
  });
});

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runInEmptyRoot } from "../../build/image/empty-root.ts";
import { fetchBun, type Locked } from "../../build/link/pinned-bun.ts";
import { temporaryFolder } from "../harness/ebb.ts";
import { host, linkBun, newestBun, pinned } from "../harness/linked-bun.ts";

setDefaultTimeout(120_000);

/** Of another compiler: it shares variables with libstdc++ that the runtime would have a second time. */
const old: Locked = {
  version: "1.3.14",
  integrity: "sha512-GBCB/k/sIqcr06eTNgg7g46qiUv35Jasx4XiccJ/n7RGqrE4RWUD/XJBbWFprVPjvqd59+QtSnS99XGqvftHfg==",
};

/** What npm answers; undefined, with the reason, where it does not. Any other failure is an error. */
function fromNpm<Answer>(ask: () => Answer): Answer | undefined {
  try {
    return ask();
  } catch (error) {
    if (!/npm .* failed/.test(String(error))) throw error;
    console.log(`skipped: ${error}`);
    return undefined;
  }
}

/** Links a release, and runs a server and a client with it in an empty root folder. */
function tryOut(release: Locked): void {
  using folder = temporaryFolder();
  const bun = join(folder.path, "bun");
  writeFileSync(bun, linkBun(release).output, { mode: 0o755 });
  expect(runInEmptyRoot(bun, ["--version"], host).stdout).toBe(`${release.version}\n`);
  const server = "const { serve, fetch } = Bun; const server = serve({ port: 0, fetch: () => new Response('heard') });";
  const client = "console.log(await (await fetch(server.url)).text(), new Date(0).getTime()); server.stop();";
  expect(runInEmptyRoot(bun, ["--eval", `${server} ${client}`], host).stdout).toBe("heard 0\n");
}

test("the pinned release links and runs in an empty root folder", () => tryOut(pinned));

const newest = fromNpm(newestBun);

test.skipIf(newest === undefined)("the pinned release is the newest, or else that one is named: build/BUN.md", () => {
  const { version } = newest as Locked;
  const order = Bun.semver.order(version, pinned.version);
  if (order > 0) console.log(`Bun ${version} is out, ${pinned.version} is pinned: ${whatPrevents(newest as Locked)}`);
  expect(order, `npm's newest is ${version}: was ${pinned.version} withdrawn?`).toBeGreaterThanOrEqual(0);
});

/** Says in words what prevents ebb from being linked with a release. */
function whatPrevents(release: Locked): string {
  try {
    tryOut(release);
    return "it links and runs";
  } catch (error) {
    return `it cannot be taken yet: ${error}`;
  }
}

describe("a release that another compiler has made", () => {
  const path = fromNpm(() => fetchBun(host.bunPackage, old));

  test.skipIf(path === undefined)("is refused with the names of all that is in the way", () => {
    expect(() => linkBun(old)).toThrow(/"_ZSt4cerr".*sharedVariables/);
  });
});

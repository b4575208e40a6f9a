import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ebb, ebbPath, temporaryFolder } from "../../harness/ebb.ts";

/** One that nobody else's processes count for. */
const user = String(100_000 + process.pid);
const isRoot = process.getuid?.() === 0;
const folder = temporaryFolder();
const self = join(folder.path, "ebb");

beforeAll(() => {
  copyFileSync(ebbPath, self);
  chmodSync(folder.path, 0o777);
});
afterAll(() => folder[Symbol.dispose]());

const commands: readonly (readonly [string, readonly string[]])[] = [
  ["run", ["run", "--sidecar", "none", "--", "/bin/true"]],
  ["wait", ["wait", "--sidecar", "none", "--wait-timeout", "100ms", "tcp://127.0.0.1:1"]],
  ["install", ["install", join(folder.path, "copy")]],
  ["status", ["status"]],
  ["config", ["config"]],
  ["request", ["request", "--timeout", "100ms", "http://127.0.0.1:1/"]],
  ["wait for https", ["wait", "--sidecar", "none", "--wait-timeout", "100ms", "https://127.0.0.1:1/"]],
];

/** Those with which ebb starts at all. */
const limits = ["nproc=0", "nproc=1", "nproc=2", "fsize=0", "core=0", "memlock=0"];

describe.skipIf(!isRoot)(
  "for another user than root, each command ends where a limit is lowest (which needs root):",
  () => {
    test.each(limits)(
      "%s",
      async (limit) => {
        for (const [name, args] of commands) {
          const asUser = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups"];
          const through = ["timeout", "-s", "KILL", "15", ...asUser, "prlimit", `--${limit}`];
          const { code, stderr } = await ebb(args, { through, program: self });
          if (![0, 69, 71].includes(code)) throw new Error(`${name}: exit code ${code}: ${stderr}`);
          expect(readdirSync(folder.path).filter((file) => file.startsWith("."))).toEqual([]);
        }
      },
      90_000,
    );
  },
);

const mib = 1024 * 1024;

describe("a limit with which no command works is named, with what is enough:", () => {
  test.each([
    ["nofile", 0, "RLIMIT_NOFILE is 0, and ebb needs 32: raise it (ulimit -n)"],
    ["nofile", 4, "RLIMIT_NOFILE is 4, and ebb needs 32: raise it (ulimit -n)"],
    ["stack", 65_536, "RLIMIT_STACK is 65536, and ebb needs 1048576: raise it (ulimit -s)"],
    ["as", 128 * mib, "RLIMIT_AS is 134217728, and ebb needs 536870912: raise it (ulimit -v)"],
    ["data", 128 * mib, "RLIMIT_DATA is 134217728, and ebb needs 536870912: raise it (ulimit -d)"],
  ])("%s=%d", async (limit, value, reason) => {
    const { code, stderr } = await ebb(["--version"], { through: ["prlimit", `--${limit}=${value}:${value}`] });
    expect([code, stderr]).toEqual([71, `ebb: ${reason}\n`]);
  });

  test.each([
    ["nofile", 32],
    ["stack", mib],
    ["as", 512 * mib],
    ["data", 512 * mib],
  ])("%s=%d is enough", async (limit, value) => {
    const through = ["prlimit", `--${limit}=${value}:${value}`];
    expect((await ebb(["run", "--sidecar", "none", "--", "sh", "-c", "exit 7"], { through })).code).toBe(7);
  });
});

describe.skipIf(!isRoot)("a thread that cannot be started, where nothing goes on without it (as another user):", () => {
  test.each([
    ["install", ["install", join(folder.path, "copy")]],
    ["request", ["request", "http://127.0.0.1:1/"]],
    ["https", ["wait", "--sidecar", "none", "https://127.0.0.1:1/"]],
  ])("%s", async (_, args) => {
    const asUser = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups"];
    const through = ["timeout", "-s", "KILL", "8", ...asUser, "prlimit", "--nproc=1"];
    const { code, stderr } = await ebb(args, { through, program: self });
    expect(code).toBe(71);
    expect(stderr).toContain("ebb: cannot start a thread: Resource temporarily unavailable; RLIMIT_NPROC is 1, which");
  });
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ebb, ebbPath, temporaryFolder } from "../harness.ts";

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
          const user = ["setpriv", "--reuid", "64998", "--regid", "64998", "--clear-groups"];
          const through = ["timeout", "-s", "KILL", "15", ...user, "prlimit", `--${limit}`];
          const { code, stderr } = await ebb(args, { through, program: self });
          if (![0, 69, 71].includes(code)) throw new Error(`${name}: exit code ${code}: ${stderr}`);
          expect(readdirSync(folder.path).filter((file) => file.startsWith("."))).toEqual([]);
        }
      },
      90_000,
    );
  },
);

import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { compiled } from "../harness/compiled.ts";
import { ebb, ebbPath, temporaryFolder } from "../harness/ebb.ts";
import { type Profile, profile, type Rule, syscallNumbers, writeFilter } from "./filter.ts";

const confine = compiled(resolve(import.meta.dirname, "../fixtures/confine.c"));

/** What becomes of calls that ebb does not make: their errors by name. */
function probed(path: string): ReadonlyMap<string, number> {
  const { stdout } = Bun.spawnSync([confine, path]);
  const lines = stdout.toString().trim().split("\n");
  return new Map(lines.map((line) => line.split(" ")).map(([name = "", error]) => [name, Number(error)]));
}

const ENOSYS = 38;
const wantless = ["unshare", "setns", "mount", "ptrace", "bpf", "keyctl", "setuid", "chmod", "io_uring_setup"];

describe("a container with this profile", () => {
  test("has none of the calls that ebb has no use for", () => {
    using folder = temporaryFolder();
    const errors = probed(writeFilter(folder.path, profile, false));
    const refused = [...wantless, "netlink", "packet", "namespace"];
    expect(refused.map((name) => [name, errors.get(name)])).toEqual(refused.map((name) => [name, ENOSYS]));
    expect([errors.get("getpid"), errors.get("unix")]).toEqual([0, 0]);
  });

  test("has those too of an application whose profile's rules were added", () => {
    using folder = temporaryFolder();
    const added: Profile = {
      ...profile,
      syscalls: [...profile.syscalls, { names: ["unshare"], action: "SCMP_ACT_ALLOW" }],
    };
    const errors = probed(writeFilter(folder.path, added, false));
    expect([errors.get("unshare"), errors.get("setns")]).toEqual([0, ENOSYS]);
  });

  test.each(["epoll_ctl", "vfork", "mmap"])(
    "could not run ebb without %s: what is missing is found here",
    async (missing) => {
      using folder = temporaryFolder();
      const syscalls = profile.syscalls.map((rule) => ({
        ...rule,
        names: rule.names.filter((name) => name !== missing),
      }));
      const through = [confine, writeFilter(folder.path, { ...profile, syscalls }, true)];
      const { code, signal } = await ebb(["run", "--sidecar", "none", "--", ebbPath, "sleep", "1ms"], { through });
      expect({ code, signal }).toEqual({ code: 159, signal: "SIGSYS" });
    },
  );
});

describe("its list", () => {
  const names = profile.syscalls.flatMap((rule) => rule.names);
  const generic = syscallNumbers("asm-generic/unistd.h");

  test("names system calls that there are", () => {
    const here = syscallNumbers();
    const known = (name: string) => here.has(name) || generic.has(name) || name === "newfstatat";
    expect(names.filter((name) => !known(name))).toEqual([]);
  });

  /** What arm64 has in the place of those that only x86-64 has (asm-generic/unistd.h: the *at forms). */
  test.each([
    ["access", "faccessat"],
    ["epoll_wait", "epoll_pwait"],
    ["lstat", "newfstatat"],
    ["open", "openat"],
    ["poll", "ppoll"],
    ["readlink", "readlinkat"],
    ["rename", "renameat"],
    ["stat", "newfstatat"],
    ["unlink", "unlinkat"],
    ["vfork", "clone"],
  ])("has for %s what arm64 has: %s", (old, other) => {
    expect(names).toContain(old);
    expect(names).toContain(other);
  });

  test("has nothing else that only x86-64 has", () => {
    const old = ["access", "epoll_wait", "lstat", "open", "poll", "readlink", "rename", "stat", "unlink", "vfork"];
    const renamed = [
      "fstat",
      "fstatfs",
      "lseek",
      "mmap",
      "newfstatat",
      "renameat",
      "sendfile",
      "statfs",
      "fcntl",
      "ftruncate",
    ];
    const lacking = names.filter((name) => !generic.has(name) && !renamed.includes(name));
    expect([...new Set(lacking)].toSorted()).toEqual(["arch_prctl", ...old].toSorted());
  });

  const runtimeDefault = "/usr/share/containers/seccomp.json";

  test.skipIf(!existsSync(runtimeDefault))(
    "is part of what container runtimes allow by default (RuntimeDefault)",
    () => {
      const { syscalls } = JSON.parse(readFileSync(runtimeDefault, "utf8")) as { syscalls: readonly Rule[] };
      const allowed = syscalls.filter(({ action }) => action === "SCMP_ACT_ALLOW").flatMap((rule) => rule.names);
      expect(names.filter((name) => !allowed.includes(name))).toEqual([]);
    },
  );
});

import { describe, expect, test } from "bun:test";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ebb, ebbPath, temporaryFolder } from "../../harness/ebb.ts";
import { smallElf } from "../../harness/executables.ts";

const isRoot = process.getuid?.() === 0;
const machine = process.arch === "x64" ? "amd64" : "arm64";
/** A file that a shell would execute up to its end, with exit code 0. */
const forElsewhere = smallElf({ machine: "s390x" });

const rows: readonly (readonly [title: string, content: string | Uint8Array, code: number, reason: string])[] = [
  ["an interpreter that is not there", "#!/no/such/bash -e\n", 127, "its first line names /no/such/bash: no such file"],
  ["a first line with CR LF", "#!/bin/sh\r\nexit 0\r\n", 127, 'CR LF and so names "/bin/sh\\r": no such file'],
  [
    "a loader that is not there",
    smallElf({ machine, loader: "/lib/ld-musl-other.so.1" }),
    127,
    "it needs the loader /lib/ld-musl-other.so.1: no such file or directory; it is built for musl",
  ],
  ["another processor", forElsewhere, 126, `it is a program for s390x, and this machine is ${machine}`],
  ["an interpreter that is a folder", "#!/etc\n", 126, "its first line names /etc: permission denied: it is a folder"],
  ["another system", Uint8Array.from([0xcf, 0xfa, 0xed, 0xfe, 0, 0]), 126, "it is a program for macOS"],
];

describe.each(["run", "wait"])("ebb %s says what a command lacks:", (name) => {
  const call = [name, "--sidecar", "none", "--"];

  test.each(rows)("%s", async (_, content, exitCode, reason) => {
    using folder = temporaryFolder();
    const path = join(folder.path, "app");
    writeFileSync(path, content, { mode: 0o755 });
    const inPath = { env: { PATH: `/nowhere:${folder.path}` } };
    for (const { code, stdout, stderr } of [await ebb([...call, path]), await ebb([...call, "app"], inPath)]) {
      expect([code, stdout]).toEqual([exitCode, ""]);
      expect(stderr.replaceAll('\\"', '"').replaceAll("\\\\", "\\")).toContain(reason);
    }
  });

  test("a script whose interpreter is for another processor is not given to a shell", async () => {
    using folder = temporaryFolder();
    const [path, interpreter] = [join(folder.path, "app"), join(folder.path, "python3")];
    writeFileSync(interpreter, forElsewhere, { mode: 0o755 });
    writeFileSync(path, `#!${interpreter}\nexit 0\n`, { mode: 0o755 });
    const { code, stderr } = await ebb([...call, path]);
    expect([code, stderr]).toEqual([126, expect.stringContaining(`names ${interpreter}: it is a program for s390x`)]);
  });

  test("a mode without x", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "app");
    writeFileSync(path, "#!/bin/sh\n", { mode: 0o644 });
    const { code, stderr } = await ebb([...call, path]);
    expect([code, stderr]).toEqual([126, expect.stringContaining("permission denied: its mode is 0644; chmod +x")]);
  });

  test("words of their own", async () => {
    const { code, stderr } = await ebb([...call, "echo hello"]);
    expect([code, stderr]).toEqual([
      127,
      expect.stringContaining("cannot start echo hello: no such file or directory; "),
    ]);
    expect(stderr).toContain("the name contains spaces: give the program and each argument as separate words");
  });

  test("a path in PATH, although a file of that name is in the working directory", async () => {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "app"), "data");
    const { code, stderr } = await ebb([...call, "app"], { cwd: folder.path });
    expect([code, stderr]).toEqual([127, expect.stringMatching(/cannot start app: no such file or directory["\n]/)]);
  });

  test.skipIf(!isRoot)("a shell for a script without #! (which needs root)", async () => {
    using root = temporaryFolder();
    copyFileSync(ebbPath, join(root.path, "ebb"));
    writeFileSync(join(root.path, "script"), "exit 0\n", { mode: 0o755 });
    const through = ["chroot", root.path];
    const { code, stderr } = await ebb([...call, "/script"], { program: "/ebb", through });
    expect(code).toBe(127);
    expect(stderr).toContain("it has no #! line, and /bin/sh does not start: no such file or directory");
  });
});

import { expect, test } from "bun:test";
import type { FileHead } from "../../../../../src/pod/process/core/file-head.ts";
import { explainStart, hintAtName, type Seen } from "../../../../../src/pod/process/core/start-failure.ts";

const missing = { reason: "no such file or directory", exitCode: 127 };
const format = { reason: "exec format error", exitCode: 126 };
const denied = { reason: "permission denied", exitCode: 126 };

const file = (head: FileHead | undefined, mode = 0o755): Seen => {
  return { kind: "file", mode, owner: "0:0", mayExecute: mode === 0o755, head };
};
const script = (interpreter: string) => file({ kind: "script", interpreter });
const elf = (machine: string, loader?: string) => file({ kind: "elf", machine, loader });
const glibc = "/lib64/ld-linux-x86-64.so.2";
const musl = "/lib/ld-musl-x86_64.so.1";

test.each<[string, typeof missing, Readonly<Record<string, Seen>>, number, string]>([
  ["is not there", missing, {}, 127, "no such file or directory"],
  ["is in a folder that may not be searched", denied, {}, 126, "permission denied"],
  [
    "is a link to nothing",
    missing,
    { "/a": { kind: "link", to: "/b" } },
    127,
    "no such file or directory: it is a symbolic link to /b",
  ],
  ["has no interpreter", missing, { "/a": script("/b") }, 127, "its first line names /b: no such file or directory"],
  [
    "has a first line with CR LF",
    missing,
    { "/a": script("/b\r") },
    127,
    'its first line ends with CR LF and so names "/b\\r": no such file or directory; save it with LF',
  ],
  [
    "has an interpreter without its loader",
    missing,
    { "/a": script("/b"), "/b": elf("amd64", glibc) },
    127,
    `its first line names /b: it needs the loader ${glibc}: no such file or directory; it is built for glibc, which Alpine and static images lack`,
  ],
  [
    "is built for Alpine",
    missing,
    { "/a": elf("amd64", musl) },
    127,
    `it needs the loader ${musl}: no such file or directory; it is built for musl (Alpine)`,
  ],
  ["is for arm64", format, { "/a": elf("arm64") }, 126, "it is a program for arm64, and this machine is amd64"],
  [
    "is for arm64, and not even the emulator is there",
    missing,
    { "/a": elf("arm64", "/l") },
    126,
    "it is a program for arm64, and this machine is amd64",
  ],
  [
    "is for 386, which this kernel executes, without its loader",
    missing,
    { "/a": elf("386", "/l") },
    127,
    "it needs the loader /l: no such file or directory",
  ],
  ["is for 386 alone", format, { "/a": elf("386") }, 126, "it is a program for 386, and this machine is amd64"],
  [
    "has an interpreter for arm64",
    format,
    { "/a": script("/b"), "/b": elf("arm64") },
    126,
    "its first line names /b: it is a program for arm64, and this machine is amd64",
  ],
  ["is damaged", format, { "/a": elf("amd64") }, 126, "exec format error"],
  [
    "is for macOS",
    format,
    { "/a": file({ kind: "foreign", what: "a program for macOS" }) },
    126,
    "it is a program for macOS",
  ],
  ["is a folder", denied, { "/a": { kind: "folder" } }, 126, "permission denied: it is a folder"],
  [
    "has no x",
    denied,
    { "/a": file(undefined, 0o644) },
    126,
    "permission denied: its mode is 0644; chmod +x, or COPY --chmod=755",
  ],
  [
    "is another user's",
    denied,
    { "/a": file(undefined, 0o750) },
    126,
    "permission denied: its mode is 0750 and its owner 0:0, and ebb runs as 65532:65532",
  ],
  [
    "has an interpreter without x",
    denied,
    { "/a": script("/b"), "/b": file(undefined, 0o600) },
    126,
    "its first line names /b: permission denied: its mode is 0600; chmod +x, or COPY --chmod=755",
  ],
  ["is refused for another reason", denied, { "/a": file(undefined) }, 126, "permission denied"],
  [
    "names itself",
    { reason: "too many levels of symbolic links", exitCode: 126 },
    { "/a": script("/a") },
    126,
    "too many levels of symbolic links",
  ],
])("a program that %s", (_, refused, files, exitCode, reason) => {
  const host = { look: (path: string) => files[path], machine: "amd64", user: "65532:65532" };
  expect(explainStart("/a", refused, host)).toEqual({ exitCode, reason });
});

test("on a volume mounted noexec all bits are set, and nothing may be executed", () => {
  const seen: Seen = { kind: "file", mode: 0o755, owner: "0:0", mayExecute: false, head: undefined };
  const host = { look: () => seen, machine: "amd64", user: "0:0" };
  expect(explainStart("/a", denied, host).reason).toBe(
    "permission denied: its mode is 0755, so its volume is mounted noexec",
  );
});

test.each([["python app.py"], ["app\n"], [" app"]])("%j has blanks, and is told so", (name) => {
  expect(hintAtName(name)).toStartWith("; the name contains spaces: ");
  expect(hintAtName(name.trim().replace(" ", "-"))).toBe("");
});

import { expect, test } from "bun:test";
import fc from "fast-check";
import { type FileHead, parseHead } from "../../../../../src/pod/process/core/file-head.ts";
import { smallElf } from "../../../../harness/executables.ts";

function headOf(content: string | Uint8Array): FileHead {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return parseHead((offset, length) => bytes.subarray(offset, offset + length));
}

test.each<[string, string, string]>([
  ["an interpreter", "#!/bin/sh\necho\n", "/bin/sh"],
  ["with blanks and an argument", "#! \t/usr/bin/env\tpython3 -u\n", "/usr/bin/env"],
  ["without an end of the line", "#!/bin/sh", "/bin/sh"],
  ["that ends with CR LF", "#!/bin/sh\r\necho\r\n", "/bin/sh\r"],
  ["that is relative, and not ASCII", "#!bin/ü\n", "bin/ü"],
])("a script names %s", (_, content, interpreter) => {
  expect(headOf(content)).toEqual({ kind: "script", interpreter });
});

test.each<[string, string | Uint8Array]>([
  ["a script without #!", "echo hello\n"],
  ["an empty file", ""],
  ["#! without an interpreter", "#!\necho\n"],
  ["#! after a byte order mark", "\ufeff#!/bin/sh\n"],
  ["zero bytes after the first line", "echo\n\0\0\0"],
  ["an Actually Portable Executable, which is a shell script first", "MZqFpD='\n\0\0"],
])("%s is text: a shell can execute it", (_, content) => {
  expect(headOf(content)).toEqual({ kind: "text" });
});

test.each<[string, readonly number[]]>([
  ["a program for macOS", [0xcf, 0xfa, 0xed, 0xfe, 0x0c, 0, 0, 1]],
  ["a program for Windows", [0x4d, 0x5a, 0x90, 0, 3, 0]],
  ["a ZIP or JAR archive", [0x50, 0x4b, 3, 4, 20, 0, 0]],
  ["neither a program nor a script", [1, 0, 2]],
  ["a truncated program", [0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]],
])("%s is named", (what, bytes) => {
  expect(headOf(Uint8Array.from(bytes))).toEqual({ kind: "foreign", what });
});

test.each(["386", "amd64", "arm64", "s390x"] as const)("an ELF file for %s, with and without a loader", (machine) => {
  const loader = "/lib/ld.so";
  expect(headOf(smallElf({ machine, loader }))).toEqual({ kind: "elf", machine, loader });
  expect(headOf(smallElf({ machine }))).toEqual({ kind: "elf", machine, loader: undefined });
});

test("an ELF file of which any part is missing or changed is still one, and costs no more than a bounded read", () => {
  const whole = smallElf({ machine: "amd64", loader: "/lib/ld.so" });
  const change = fc.tuple(fc.integer({ min: 6, max: whole.length - 1 }), fc.integer({ min: 0, max: 255 }));
  fc.assert(
    fc.property(fc.array(change), fc.integer({ min: 4, max: whole.length }), (changes, length) => {
      const bytes = whole.slice(0, length);
      for (const [at, byte] of changes) if (at < length) bytes[at] = byte;
      const head = parseHead((offset, most) => {
        expect(most).toBeLessThanOrEqual(256 * 0xffff);
        return bytes.subarray(offset, offset + most);
      });
      expect(head.kind).toBe(length < 64 ? "foreign" : "elf");
    }),
  );
});

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readElf } from "../../build/link/elf.ts";
import { readDynamic } from "../../build/link/elf-dynamic.ts";
import { findToolchain } from "../../build/link/toolchain.ts";
import { type Target, targetNamed } from "../../build/targets.ts";
import { verify } from "../../build/verify.ts";
import { dynamicProgram, everything, executeOn, link, x64 } from "../build/link/small-elf.ts";

setDefaultTimeout(60_000);

/** Variables of two threads, one of them aligned, one of libstdc++, one of libc (errno). */
const source = (align: number): string => `
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
extern __thread void (*once)(void) __asm__("_ZSt11__once_call") __attribute__((tls_model("global-dynamic")));
static _Thread_local _Alignas(${align}) char aligned[${align} + 1] = "a";
_Thread_local int exported = 3;
_Thread_local short later;
static _Thread_local char tail[3] = "ab";
static void *look(void *unused) {
  errno += 2;
  char *volatile place = aligned; /* or the compiler would believe what it was told */
  int other = (uintptr_t)place % ${align};
  printf("%d %s %d %d %s %d %d\\n", other, aligned, exported++, later++, tail, once != 0, errno);
  once = (void (*)(void))look;
  return unused;
}
int main(void) {
  pthread_t thread;
  look(0);
  pthread_create(&thread, 0, look, 0);
  pthread_join(thread, 0);
  look(0);
  return 6;
}`;
const seen = "0 a 3 0 ab 0 2\n0 a 3 0 ab 0 2\n0 a 4 1 ab 1 4\n";

const targets: readonly [Target, number][] = [
  [x64, 18],
  [targetNamed("arm64"), 1030],
];

/** Why programs of a target cannot be made and run here. */
function obstacle(target: Target): string | undefined {
  try {
    findToolchain(target);
  } catch (error) {
    return String(error);
  }
  return target.arch === process.arch || Bun.which(target.emulator) !== null ? undefined : `no ${target.emulator}`;
}

describe.each(targets)("for $name", (target, threadRelocation) => {
  const lacking = obstacle(target);
  if (lacking !== undefined) console.log(`skipped for ${target.name}: ${lacking}`);

  test.skipIf(lacking !== undefined).each([1, 64, 4096])(
    "thread-local variables are where the program expects them: one aligned to %d",
    (align) => {
      const input = dynamicProgram({ source: source(align), target });
      const { bytes } = link(input, target);
      expect(executeOn(target, bytes)).toEqual({ status: 6, signal: null, stdout: seen, stderr: "" });
    },
  );

  test.skipIf(lacking !== undefined).each(["global-dynamic", "local-dynamic", "initial-exec"])(
    "and however it was compiled to find them: %s",
    (model) => {
      const input = dynamicProgram({ source: source(32), target, compileOptions: ["-fPIC", `-ftls-model=${model}`] });
      expect(readDynamic(readElf(input, "small")).relocations.map(({ type }) => type)).toContain(threadRelocation);
      expect(executeOn(target, link(input, target).bytes).stdout).toBe(seen);
    },
  );

  test.skipIf(lacking !== undefined)("copied variables, PLT slots, weak symbols and initialisers are right", () => {
    const linkOptions = ["-Wl,-z,dynamic-undefined-weak"];
    const library = "int atexit(void (*leave)(void)) { return leave == 0; }"; // which glibc has in no shared library
    for (const compileOptions of [[], ["-fPIC"]]) {
      const input = dynamicProgram({ source: everything, target, compileOptions, linkOptions, library });
      const { bytes, patches } = link(input, target);
      verify({ input, output: bytes, patches, target });
      expect(executeOn(target, bytes, ["argument"])).toEqual({
        status: 3,
        signal: null,
        stdout: "entered\nargument\n43 0 1 0 1\nleft\n",
        stderr: "",
      });
    }
  });
});

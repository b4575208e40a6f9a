import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The part of the OCI runtime specification's seccomp section that build/seccomp.json uses. */
export interface Profile {
  readonly defaultAction: "SCMP_ACT_ERRNO";
  readonly defaultErrnoRet: number;
  readonly syscalls: readonly Rule[];
}

export interface Rule {
  readonly comment?: string;
  readonly names: readonly string[];
  readonly action: "SCMP_ACT_ALLOW";
  readonly args?: readonly Condition[];
}

interface Condition {
  readonly index: number;
  readonly value: number;
  readonly valueTwo?: number;
  readonly op: "SCMP_CMP_EQ" | "SCMP_CMP_MASKED_EQ";
}

/** The profile in build/seccomp.json. */
export const profile: Profile = JSON.parse(
  readFileSync(resolve(import.meta.dirname, "../../build/seccomp.json"), "utf8"),
);

/** Returns the numbers of system calls by name, for this machine as gcc knows them, or from another header of its. */
export function syscallNumbers(header = "sys/syscall.h"): ReadonlyMap<string, number> {
  const { stdout } = spawnSync("gcc", ["-E", "-dM", "-include", header, "-x", "c", "/dev/null"], { encoding: "utf8" });
  const numbers = [...stdout.matchAll(/^#define __NR(?:3264)?_(\w+) (\d+)$/gm)];
  return new Map(numbers.map(([, name = "", number]) => [name, Number(number)]));
}

/**
 * Instructions of classic BPF, and the values that a filter returns (linux/bpf_common.h, filter.h, seccomp.h, audit.h).
 */
const load = 0x20;
const and = 0x54;
const jumpIfEqual = 0x15;
const give = 0x06;
const allow = 0x7fff_0000;
const kill = 0x8000_0000;
const refuse = 0x0005_0000;
const machine = process.arch === "x64" ? 0xc000_003e : 0xc000_00b7;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/**
 * Writes a profile to a file as a BPF filter for the kernel, and returns the file's path. If it is strict, a call that
 * the profile does not have ends the process; otherwise it fails with the profile's error, which the process might get
 * over.
 */
export function writeFilter(folder: string, { syscalls, defaultErrnoRet }: Profile, isStrict: boolean): string {
  const numbers = syscallNumbers();
  const otherwise = isStrict ? kill : refuse | defaultErrnoRet;
  const rules = syscalls.flatMap(({ names, args = [] }) =>
    names.flatMap((name) => {
      const number = numbers.get(name);
      return number === undefined ? [] : ruleOf(number, args);
    }),
  );
  const program = [
    [load, 0, 0, 4],
    [jumpIfEqual, 1, 0, machine],
    [give, 0, 0, kill],
    ...rules,
    [give, 0, 0, otherwise],
  ] as readonly Instruction[];
  const path = join(folder, isStrict ? "strict" : "filter");
  writeFileSync(path, encoded(program));
  return path;
}

/**
 * Makes the instructions of a rule. They compare the lower half of an argument, into which the numbers of a profile
 * fit.
 */
function ruleOf(number: number, args: readonly Condition[]): Instruction[] {
  const checks = args.flatMap(({ index, op, value, valueTwo = 0 }) => {
    const argument: Instruction = [load, 0, 0, 16 + 8 * index];
    return op === "SCMP_CMP_EQ" ? [argument, value] : [argument, [and, 0, 0, value] as const, valueTwo];
  });
  const size = checks.length + 1;
  const tail = checks.map((check, at): Instruction => {
    return typeof check === "number" ? [jumpIfEqual, 0, size - at - 1, check] : check;
  });
  return [[load, 0, 0, 0], [jumpIfEqual, 0, size, number], ...tail, [give, 0, 0, allow]];
}

function encoded(program: readonly Instruction[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(program.length * 8));
  program.forEach(([code, ifTrue, ifFalse, value], index) => {
    bytes.setUint16(index * 8, code, true);
    bytes.setUint8(index * 8 + 2, ifTrue);
    bytes.setUint8(index * 8 + 3, ifFalse);
    bytes.setUint32(index * 8 + 4, value, true);
  });
  return new Uint8Array(bytes.buffer);
}

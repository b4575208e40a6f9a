import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** Addresses, `from` an instruction `to` code or data, in the order of the instructions. */
export type CodeReferences = {
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  /** Whether it jumps or calls, which an address that is taken does not. */
  readonly isJump: Uint8Array;
  /** Where the instruction before does not lead: behind a jump, a return, a trap, and what fills up to a multiple. */
  readonly apart: ReadonlySet<number>;
  /** What is behind a call, which may never return: a function may begin there as well. */
  readonly behindCalls: ReadonlySet<number>;
};

type Bounds = { readonly from: number; readonly to: number };

const ends = /^(?:notrack |bnd |repz )?(?:ret|jmp|ud2|hlt)/;
const fills = /^(?:nop|data16|cs nop|xchg {3}%ax,%ax)/;
/** But distances from the next instruction, whose sum objdump tells. */
const numbers = /[$ ,:*]0x([\da-f]+)(?![\da-f]*\(%rip\))/g;
const direct = /^(?:notrack |bnd )?(?:j|call|loop|xbegin)\S* +([\da-f]+)/;

/**
 * What the code of an executable for x86-64 refers to inside `bounds`, as binutils' objdump reads it: jumps, calls, addresses
 * relative to the next instruction, and numbers that may be addresses, because it is linked to run where it lies.
 */
export async function readCodeReferences(path: string, bounds: Bounds): Promise<CodeReferences> {
  const [from, to, isJump]: [number[], number[], number[]] = [[], [], []];
  const apart = new Set<number>();
  const behindCalls = new Set<number>();
  let isApart = true;
  let isBehindCall = false;
  for await (const line of disassemble(path)) {
    const colon = line.indexOf(":\t");
    if (colon < 0) continue;
    const address = Number.parseInt(line.slice(0, colon), 16);
    const text = line.slice(colon + 2);
    if (text.startsWith("int3")) isApart = true;
    else if (!fills.test(text)) {
      if (isApart) apart.add(address);
      if (isBehindCall) behindCalls.add(address);
      isApart = ends.test(text);
      isBehindCall = text.startsWith("call");
    }
    for (const { target, jumps } of targetsOf(text)) {
      if (target < bounds.from || target >= bounds.to) continue;
      from.push(address);
      to.push(target);
      isJump.push(jumps ? 1 : 0);
    }
  }
  return {
    from: Uint32Array.from(from),
    to: Uint32Array.from(to),
    isJump: Uint8Array.from(isJump),
    apart,
    behindCalls,
  };
}

function disassemble(path: string): AsyncIterable<string> {
  const words = ["--disassemble", "--no-show-raw-insn", "--section=.text", path];
  const { stdout } = spawn("x86_64-linux-gnu-objdump", words, { stdio: ["ignore", "pipe", "inherit"] });
  return createInterface({ input: stdout });
}

function* targetsOf(text: string): Generator<{ readonly target: number; readonly jumps: boolean }> {
  const jump = direct.exec(text);
  if (jump !== null) {
    yield { target: Number.parseInt(jump[1] as string, 16), jumps: true };
    return;
  }
  const relative = text.indexOf("# ");
  if (relative >= 0) yield { target: Number.parseInt(text.slice(relative + 2), 16), jumps: false };
  if (!text.includes("0x")) return;
  for (const [, number] of text.matchAll(numbers))
    yield { target: Number.parseInt(number as string, 16), jumps: false };
}

import { dlopen, type Pointer, toArrayBuffer } from "bun:ffi";

/** What ebb was started with, before Bun changed any of it; the child gets it back. */
export interface Inherited {
  /** Bit n-1 for signal n. */
  readonly ignored: bigint;
  readonly blocked: bigint;
  /** Open descriptors that exec would keep. */
  readonly descriptors: readonly number[];
  /** The addresses of the original argv and environ arrays: bytes, not text, so that nothing is lost by decoding. */
  readonly argv: Pointer;
  readonly environ: Pointer;
}

const MAX_DESCRIPTORS = 1024;
const SIZE = 5 * 8 + MAX_DESCRIPTORS * 4;

/**
 * The record that build/before-bun.c makes (struct ebb_inherited) before Bun's first instruction. Undefined in development,
 * where ebb is not linked with it: Bun's own changes then stay.
 */
export function readInherited(): Inherited | undefined {
  const address = recordAddress();
  if (address === undefined) return undefined;
  const record = new DataView(toArrayBuffer(address, 0, SIZE));
  const word = (at: number) => record.getBigUint64(at, true);
  return {
    ignored: word(0),
    blocked: word(8),
    argv: Number(word(16)) as Pointer,
    environ: Number(word(24)) as Pointer,
    descriptors: Array.from({ length: Number(word(32)) }, (_, i) => record.getInt32(40 + 4 * i, true)),
  };
}

function recordAddress(): Pointer | undefined {
  try {
    const { ebb_inherited } = dlopen("libc.so.6", {
      ebb_inherited: { args: [], returns: "ptr" },
    }).symbols;
    return ebb_inherited() as Pointer;
  } catch {
    return undefined; // the host's libc has no such symbol
  }
}

/** Whether a signal was ignored when ebb was started: it stays so, for ebb and for the child (nohup). */
export function isIgnored(inherited: Inherited | undefined, signal: number): boolean {
  return inherited !== undefined && ((inherited.ignored >> BigInt(signal - 1)) & 1n) === 1n;
}

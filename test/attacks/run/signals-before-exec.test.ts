import { expect, test } from "bun:test";
import { endsWait, forwarded, signalName } from "../../../src/shared/core/signal.ts";
import { childPath } from "../../harness/compiled.ts";
import { ebb, inParallel } from "../../harness/ebb.ts";

// `ebb wait -- CMD`, where CMD cannot be executed: no signal is ebb's end on the way there or after it.

const child = childPath();

interface Hit {
  readonly at: number;
  readonly signal: number;
}

async function codeAfter(
  { at, signal }: Hit,
  file: string,
): Promise<{ readonly code: number; readonly killed: boolean }> {
  const call = ["wait", "--sidecar", "none", "file:/etc/passwd", "--", file];
  const { code, stderr } = await ebb(call, { through: [child, "interrupted", String(at), String(signal)] });
  return { code, killed: stderr.includes("killed by") };
}

/** From the start to beyond the last call. */
const STEP = 5;
const hits = Array.from({ length: 700 / STEP }, (_, index) => ({
  at: index * STEP,
  signal: forwarded[(index * 7) % forwarded.length] as number,
}));

test.each([
  ["cannot be executed", "/etc/passwd", 126],
  ["is not there", "/no/such/file", 127],
] as const)(
  "a command that %s: each signal, before ebb's system calls to the last",
  async (_, file, failure) => {
    await inParallel(hits, async (hit) => {
      const { code, killed } = await codeAfter(hit, file);
      const name = signalName(hit.signal);
      const isHonest = code === failure || (endsWait(hit.signal) && code === 128 + hit.signal);
      expect({ ...hit, name, code, killed, isHonest }).toEqual({ ...hit, name, code, killed: false, isHonest: true });
    });
  },
  60_000,
);

import { expect, test } from "bun:test";
import { ApiError } from "../../../../src/cluster/api/api-error.ts";
import { keepTrying } from "../../../../src/cluster/controller/keep-trying.ts";
import { stopClock } from "../../../harness/fake-clock.ts";
import { collectLog } from "../collect-log.ts";

interface Try {
  /** How long it goes on before it fails. */
  readonly seconds?: number | undefined;
  readonly reason: string;
}

/**
 * Tries until `tries` are used up. Each pause takes 25 s of the clock. Resolves with what was logged, with seconds since
 * the start, and with the pauses that were wanted, in the steps of the shortest.
 */
async function keptTrying(tries: readonly Try[]) {
  using clock = stopClock();
  const start = performance.now();
  const stop = new AbortController();
  const log = collectLog();
  const lines: string[] = [];
  log.warn = ({ reason }) => void lines.push(`${(performance.now() - start) / 1000} s: ${reason}`);
  const left = [...tries];
  const once = async (): Promise<void> => {
    const { seconds, reason = "" } = left.shift() ?? {};
    if (seconds !== undefined) clock.pass(seconds * 1000);
    throw new ApiError(reason, { status: 403, reason: "Forbidden", retryAfterMs: undefined });
  };
  const pauses: number[] = [];
  const wait = async (ms: number): Promise<void> => {
    pauses.push(2 ** Math.ceil(Math.log2(ms / 1000)));
    clock.pass(25_000);
    if (left.length === 0) stop.abort();
  };
  await keepTrying(once, { message: "cannot watch an object: retrying", wait, log, signal: stop.signal });
  return { lines, pauses };
}

const reasons = (...all: readonly string[]) => all.map((reason) => ({ reason }));

test("a failure is logged at once, and while it stays the same about each minute", async () => {
  const { lines } = await keptTrying(reasons(...Array(8).fill("no")));
  expect(lines).toEqual(["0 s: no", "75 s: no", "150 s: no"]);
});

test("another failure is logged at once", async () => {
  const { lines } = await keptTrying(reasons("no", "no", "never", "never"));
  expect(lines).toEqual(["0 s: no", "50 s: never"]);
});

test("the pauses grow, also of what works for a while each time; once nothing has failed for two minutes they are short again", async () => {
  const tries = [undefined, 1, 94, 95, undefined].map((seconds) => ({ seconds, reason: "no" }));
  expect((await keptTrying(tries)).pauses).toEqual([1, 2, 4, 1, 2]);
});

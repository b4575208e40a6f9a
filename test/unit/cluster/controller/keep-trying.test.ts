import { afterEach, expect, setSystemTime, test } from "bun:test";
import { ApiError } from "../../../../src/cluster/api/api-error.ts";
import { keepTrying } from "../../../../src/cluster/controller/keep-trying.ts";
import { collectLog } from "../collect-log.ts";

afterEach(() => void setSystemTime());

const START = Date.parse("2030-01-01T00:00:00Z");

/**
 * Tries until `reasons` are used up: each try fails for the next one, or is fine if that is empty. Each pause takes 25 s of
 * the clock, and none of the test. Resolves with what was logged, with seconds since the start.
 */
async function logged(reasons: readonly string[]): Promise<readonly string[]> {
  setSystemTime(START);
  const stop = new AbortController();
  const log = collectLog();
  const lines: string[] = [];
  log.warn = ({ reason }) => void lines.push(`${(Date.now() - START) / 1000} s: ${reason}`);
  const left = [...reasons];
  const once = async (isFine: () => void): Promise<void> => {
    if (left[0] === "") isFine();
    const reason = left.shift() || left.shift();
    if (left.length === 0) queueMicrotask(() => stop.abort());
    throw new ApiError(String(reason), { status: 403, reason: "Forbidden", retryAfterMs: undefined });
  };
  const wait = async (): Promise<void> => void setSystemTime(Date.now() + 25_000);
  await keepTrying(once, { message: "cannot watch an object: retrying", wait, log, signal: stop.signal });
  return lines;
}

test("a failure is logged at once, and while it stays the same about each minute", async () => {
  expect(await logged(Array(8).fill("no"))).toEqual(["0 s: no", "75 s: no", "150 s: no"]);
});

test("another failure is logged at once, and so is the same one after a success", async () => {
  expect(await logged(["no", "no", "never", "never", "", "never", "never"])).toEqual([
    "0 s: no",
    "50 s: never",
    "100 s: never",
  ]);
});

import { describe } from "bun:test";
import { envoyMissing, envoyPath } from "../../build/setup/envoy.mjs";
import { type Ended, isQuitLine, type LogLine, type Started, until } from "../harness/ebb.ts";

/**
 * Declares a group of tests against a real Envoy. If Envoy is not installed they are skipped, and the title says why.
 */
export function describeAgainstEnvoy(title: string, tests: () => void): void {
  const isThere = envoyPath() !== undefined;
  if (!isThere) console.warn(`skipped: ${title}: ${envoyMissing}`);
  describe.skipIf(!isThere)(isThere ? title : `${title}: ${envoyMissing}`, tests);
}

/** Returns the line of ebb's log about the only quit. @throws Error if there is not exactly one */
export function quitOf({ log, stderr }: Ended): LogLine {
  const [quit, ...others] = log.filter(isQuitLine);
  if (quit === undefined || others.length > 0) throw new Error(`expected one quit in: ${stderr}`);
  return quit;
}

/**
 * Returns the command line of test/fixtures/job.ts: it calls `url` `count` times, or until a stop signal if that is 0.
 */
export function job(url: string, count: number, code: number): readonly string[] {
  return [process.execPath, `${import.meta.dirname}/../fixtures/job.ts`, url, `${count}`, `${code}`];
}

/** Resolves once ebb has logged that Envoy is not ready, with this state: `PRE_INITIALIZING`. */
export async function untilNotReady({ stderr }: Started, state: string): Promise<void> {
  const reason = JSON.stringify(`HTTP 503 "${state}"`);
  await until(`not ready: ${reason}`, () => stderr().includes(`"reason":${reason}`));
}

/** Resolves once `text` is in ebb's stderr. */
export async function says({ stderr }: Started, text: string): Promise<void> {
  await until(`ebb says: ${text}`, () => stderr().includes(text));
}

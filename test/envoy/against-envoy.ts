import { describe } from "bun:test";
import { envoyMissing, envoyPath } from "../../build/setup/envoy.mjs";
import { type Ended, isQuitLine, type LogLine, type Started, until } from "../harness.ts";

/** A group of tests against a real Envoy; where there is none they are skipped, and the title says why. */
export function describeAgainstEnvoy(title: string, tests: () => void): void {
  const isThere = envoyPath() !== undefined;
  if (!isThere) console.warn(`skipped: ${title}: ${envoyMissing}`);
  describe.skipIf(!isThere)(isThere ? title : `${title}: ${envoyMissing}`, tests);
}

/** What ebb said of the one quit. */
export function quitOf({ log, stderr }: Ended): LogLine {
  const [quit, ...others] = log.filter(isQuitLine);
  if (quit === undefined || others.length > 0) throw new Error(`expected one quit in: ${stderr}`);
  return quit;
}

/** The command line of test/fixtures/job.ts; count 0: until a stop signal. */
export function job(url: string, count: number, code: number): readonly string[] {
  return [process.execPath, `${import.meta.dirname}/../fixtures/job.ts`, url, `${count}`, `${code}`];
}

/** Resolves once ebb has said that Envoy, its admin interface open, is in this state, which is not LIVE. */
export async function untilNotReady({ stderr }: Started, state: string): Promise<void> {
  const reason = JSON.stringify(`HTTP 503 "${state}"`);
  await until(`not ready: ${reason}`, () => stderr().includes(`"reason":${reason}`));
}

/** Resolves once ebb has said it, in any line of its log. */
export async function says({ stderr }: Started, text: string): Promise<void> {
  await until(`ebb says: ${text}`, () => stderr().includes(text));
}

import { beforeAll, describe, expect, test } from "bun:test";
import { namespace } from "../cluster.ts";
import { startIstio } from "../istio/istio.ts";
import type { Loss } from "../programs/mix.ts";
import { roll } from "./roll.ts";
import { labelsOf, type Shape, type Way, ways } from "./ways.ts";

// A part of `npm run bench -- rolls`, which has all ways, and apps that need other times to end.

beforeAll(async () => {
  await startIstio();
}, 300_000);

const NEEDS_MS = 3000;
/** Longer than a busy machine needs, shorter than a grace period. */
const GONE_MS = 10_000;

/** Of an app that has stopped, also beside a native sidecar: nothing told the client to go. */
function isOfLongPause({ client, by }: Loss): boolean {
  return client === "sleepy" && by === "HTTP 503";
}

describe("apps that end their streams themselves lose no request of any kind of client, and no call, when they are stopped:", () => {
  test.concurrent.each<readonly [Shape, string]>([
    ["server", "ordinary Envoy, ebb run"],
    ["server", "native Envoy"],
    ["worker", "ordinary Istio, annotation"],
  ])("%s, %s", async (shape, name) => {
    const way = ways.find((one) => one.name === name) as Way;
    await using here = await namespace(labelsOf(way));
    const { sent, lostIn, before, after, lostOut, goneMs, logs } = await roll(here, way, { shape, needsMs: NEEDS_MS });
    const calls = lostOut.reduce((sum, { count }) => sum + count, 0);
    const requests = `${lostIn.length} of ${JSON.stringify(sent)} requests lost`;
    console.log(`${shape}, ${name}: ${requests}, ${calls} of ${before} and ${after} calls; gone after ${goneMs} ms`);
    const lost = lostIn.filter((loss) => !isOfLongPause(loss));
    if (lost.length + lostOut.length > 0) console.log(logs);
    expect({ lost, lostOut }).toEqual({ lost: [], lostOut: [] });
    expect(after).toBeGreaterThan(0);
    expect(Math.max(...goneMs)).toBeLessThan(GONE_MS);
  });
});

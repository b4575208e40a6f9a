import { expect, test } from "bun:test";
import { endWithPeak } from "../../binary/sidecars/peak.ts";
import { lineOf, startEbb } from "../../harness/ebb.ts";
import { startEnvoy } from "../../stand-in/envoy.ts";
import { answersOf, cluster, type Many, usedListeners } from "../../stand-in/many-clusters.ts";

const MIB = 1024 * 1024;

/** So many megabytes of outbound clusters, with an inbound one in their midst. */
function* clusters(bytes: number): Generator<string> {
  const others = Array.from({ length: 100 }, (_, at) =>
    cluster(`outbound|80||service-${at}.shop.svc.cluster.local`, 5),
  );
  const block = others.join("");
  for (let sent = 0; sent < bytes; sent += block.length) {
    yield sent === 0 ? block + cluster("inbound|8080||", 0) : block;
  }
}

/** Drains beside that Envoy; how it ended, and how much memory it had at most. */
function drain(answers: Many, drainFor = "30s") {
  return run(["drain", "--min-drain", "0s", "--drain", drainFor], answers);
}

async function run(words: readonly string[], answers: Many) {
  await using envoy = await startEnvoy(answersOf(answers));
  await using ebb = startEbb([...words, "--sidecar", "istio", "--admin", envoy.url]);
  return await endWithPeak(ebb);
}

test("what is under way is counted in 32 MB of clusters, in no more memory than in 1 MB", async () => {
  const few = await drain({ clusters: () => clusters(1 * MIB) });
  const many = await drain({ clusters: () => clusters(32 * MIB) });
  for (const { ended } of [few, many]) {
    expect(lineOf(ended, "counting the work in flight").countedBy).toBe("clusters");
    expect(ended.code).toBe(0);
  }
  expect(many.peak - few.peak).toBeLessThan(16 * MIB);
}, 60_000);

test("clusters without end take neither memory nor the end of the drain", async () => {
  const { ended, peak } = await drain({ clusters: () => clusters(Number.POSITIVE_INFINITY) }, "4s");
  expect(ended.code).toBe(69);
  expect(peak).toBeLessThan(64 * MIB);
}, 60_000);

test("the statistics of 10,000 listeners take little more memory than those of 100", async () => {
  const beside = (count: number) => ({ stats: () => usedListeners(count, 0), clusters: () => clusters(0) });
  const few = await drain(beside(100));
  const many = await drain(beside(10_000));
  for (const { ended } of [few, many]) {
    expect(lineOf(ended, "counting the work in flight").countedBy).toBe("listeners");
    expect(ended.code).toBe(0);
  }
  expect(many.peak - few.peak).toBeLessThan(42 * MIB);
}, 60_000);

test("status reads so much and no more of an Envoy without end", async () => {
  const endless = () => clusters(Number.POSITIVE_INFINITY);
  const { ended, peak } = await run(["status"], {
    stats: () => usedListeners(Number.POSITIVE_INFINITY),
    clusters: endless,
  });
  expect(ended.code).toBe(0);
  expect(ended.stdout).toMatch(/\/stats: (an answer longer than 4 MiB|no answer in time)/); // whichever bound is met first
  expect(peak).toBeLessThan(160 * MIB);
}, 60_000);

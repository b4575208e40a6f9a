import { expect, test } from "bun:test";
import { ApiError } from "../../../../src/cluster/api/api-error.ts";
import { createReflector, type Interruption } from "../../../../src/cluster/controller/reflector.ts";
import { collectLog } from "../collect-log.ts";
import { createFakeApi } from "../fake-api.ts";

test("a watch that expires again and again, though it has begun: each list waits longer, and one warning says so", async () => {
  const api = createFakeApi();
  let lists = 0;
  api.get = async <T>() => {
    lists += 1;
    return { metadata: { resourceVersion: "5" }, items: [] } as T;
  };
  api.watch = async function* <T>() {
    yield { type: "BOOKMARK" as const, object: { metadata: { resourceVersion: "6" } } as T };
    throw new ApiError("too old resource version", { status: 410, reason: "Expired", retryAfterMs: undefined });
  };
  const interruptions: Interruption[] = [];
  const { run } = createReflector(
    api,
    { collection: "/x", query: {}, resyncMs: 3_600_000, keyOf: ({ metadata }) => metadata.name },
    {
      seen: () => undefined,
      gone: () => undefined,
      listed: () => undefined,
      interrupted: (why) => interruptions.push(why),
    },
  );
  const stop = new AbortController();
  const log = collectLog();
  const pauses: number[] = [];
  const wait = async (ms: number): Promise<void> => {
    pauses.push(2 ** Math.ceil(Math.log2(ms / 1000)));
    if (pauses.length === 4) stop.abort();
  };
  await run({ message: "cannot watch pods: retrying", wait, log, signal: stop.signal });
  expect({ lists, pauses, interruptions }).toEqual({
    lists: 4,
    pauses: [1, 2, 4, 8],
    interruptions: Array(4).fill("expired"),
  });
  expect(log.lines).toEqual([
    { level: "warn", message: "cannot watch pods: retrying", fields: { reason: "too old resource version" } },
  ]);
});

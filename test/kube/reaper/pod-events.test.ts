import { expect, test } from "bun:test";
import { ApiError } from "../../../src/kube/api/api-error.ts";
import type { ApiClient } from "../../../src/kube/api/client.ts";
import { createPodEvents } from "../../../src/kube/reaper/pod-events.ts";
import type { Log } from "../../../src/system/output/log.ts";

const pod = { namespace: "shop", name: "web", uid: "u1" };
const log = { warn: () => undefined } as unknown as Log;
const told = { metadata: { name: "e" }, regarding: { uid: "u1" }, eventTime: "2026-01-01T00:00:00.000000Z" };

test("a list that its first caller gives up is asked for again by the caller that shares it", async () => {
  let asked = 0;
  const get = (_: string, { signal }: { signal?: AbortSignal } = {}) => {
    asked += 1;
    if (asked > 1) return Promise.resolve({ metadata: {}, items: [told] });
    return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  };
  const events = createPodEvents({ get } as unknown as ApiClient, "me", log);
  const first = new AbortController();
  const given = events.lastTold(pod, first.signal);
  const shared = events.lastTold(pod, new AbortController().signal);
  first.abort("the Lease is lost");
  expect(await given).toBeUndefined();
  expect(await shared).toBe(Date.parse("2026-01-01T00:00:00Z"));
  expect(asked).toBe(2);
});

test.each([
  [undefined, "unanswered"],
  [429, "unanswered"],
  [503, "unanswered"],
  [403, undefined],
] as const)("a list that fails with %p is %p", async (status, told) => {
  const get = () => Promise.reject(new ApiError("no", { status, reason: "X", retryAfterMs: undefined }));
  const events = createPodEvents({ get } as unknown as ApiClient, "me", log);
  expect(await events.lastTold(pod, new AbortController().signal)).toBe(told);
});

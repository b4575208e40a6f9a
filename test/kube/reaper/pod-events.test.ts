import { expect, spyOn, test } from "bun:test";
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

test("after three lists without an answer, 5 s apart, it goes on without them, until one is answered", async () => {
  let [asked, isUnwell, now] = [0, true, 0];
  using _clock = spyOn(performance, "now").mockImplementation(() => now);
  const get = async () => {
    asked += 1;
    if (isUnwell) throw new ApiError("no", { status: 500, reason: "X", retryAfterMs: undefined });
    return { metadata: {}, items: [told] };
  };
  const events = createPodEvents({ get } as unknown as ApiClient, "me", log);
  const answers: unknown[] = [];
  for (; now < 16_000; now += 2500) answers.push(await events.lastTold(pod, new AbortController().signal));
  const unanswered = "unanswered";
  expect({ answers, asked }).toEqual({
    answers: [unanswered, unanswered, unanswered, unanswered, undefined, undefined, undefined],
    asked: 4,
  });
  isUnwell = false;
  now += 5000;
  expect(await events.lastTold(pod, new AbortController().signal)).toBe(Date.parse("2026-01-01T00:00:00Z"));
  isUnwell = true;
  now += 5000;
  expect(await events.lastTold(pod, new AbortController().signal)).toBe(unanswered);
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

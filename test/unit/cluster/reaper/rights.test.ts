import { expect, test } from "bun:test";
import { ApiError } from "../../../../src/cluster/api/api-error.ts";
import { rightsNeeded } from "../../../../src/cluster/reaper/core/rights.ts";
import { createRights } from "../../../../src/cluster/reaper/rights.ts";
import { until } from "../../../harness/ebb.ts";
import { stopClock } from "../../../harness/fake-clock.ts";
import { collectLog } from "../collect-log.ts";
import { createFakeApi } from "../fake-api.ts";

const needed = rightsNeeded({ namespaces: [], methods: ["exec"], onlyLooks: true });

function forbidden(verb: string): ApiError {
  const message = `GET /x: 403 User "u" cannot ${verb} resource "pods" in API group "" in the namespace "shop"`;
  return new ApiError(message, { status: 403, reason: "Forbidden", retryAfterMs: undefined });
}

function arrange() {
  const log = collectLog();
  const denied = new Set<string>();
  let reviews = 0;
  const api = createFakeApi();
  api.create = async (_path: string, body: object) => {
    const { verb } = (body as { spec: { resourceAttributes: { verb: string } } }).spec.resourceAttributes;
    reviews += 1;
    return { status: { allowed: !denied.has(verb) } } as never;
  };
  const changes: string[] = [];
  const changed = (isGranted: boolean) => changes.push(isGranted ? "granted" : (rights.problem() ?? "none"));
  const rights = createRights({ api, needed, changed, log });
  return { rights, denied, changes, log, reviews: () => reviews };
}

test("rights are not reviewed while nothing is refused, and once after a refusal if all are granted", async () => {
  const { rights, reviews } = arrange();
  const stop = new AbortController();
  const running = rights.run(stop.signal);
  for (const times of [1, 2]) {
    expect(reviews()).toBe((times - 1) * needed.length);
    rights.refused(forbidden("get"));
    await until("it is reviewed", () => rights.missing().length === 0 || undefined);
  }
  stop.abort();
  await running;
  expect(reviews()).toBe(2 * needed.length);
});

test("a 403 marks the right that it names; the review clears it once it is granted, and then ends", async () => {
  using clock = stopClock();
  const { rights, denied, changes, reviews } = arrange();
  denied.add("get");
  const stop = new AbortController();
  const running = rights.run(stop.signal);
  rights.refused(forbidden("get"));
  const problem = "this reaper's account may not get pods in all namespaces";
  expect(rights.problem()).toBe(problem);
  await clock.until("it is reviewed", () => reviews() === needed.length);
  denied.delete("get");
  await clock.until("it is granted", () => {
    clock.pass(100);
    return rights.missing().length === 0;
  });
  const asked = reviews();
  rights.refused(forbidden("get"));
  await clock.until("it is granted again", () => rights.missing().length === 0);
  expect(reviews()).toBe(asked + needed.length); // those of the second refusal alone
  stop.abort();
  await running;
  expect(changes).toEqual([problem, "none", problem, "none"]);
});

test("an error that names no needed right changes nothing", () => {
  const { rights, changes } = arrange();
  rights.refused(forbidden("delete"));
  rights.refused(new ApiError("gone", { status: 404, reason: "NotFound", retryAfterMs: undefined }));
  rights.refused(undefined);
  expect(changes).toEqual([]);
});

const { signal } = new AbortController();
/** The pause between two looks at what is missing. */
const SURE_MS = 3000;

test("a right that is missing at the first review and granted at the second is no error: an API server that has just started", async () => {
  using clock = stopClock();
  const { rights, denied, changes, log, reviews } = arrange();
  denied.add("get");
  const reviewing = rights.review(signal);
  await clock.until("it is known at once", () => rights.problem() !== undefined);
  denied.delete("get");
  clock.pass(SURE_MS);
  await reviewing;
  expect({ problem: rights.problem(), lines: log.lines }).toEqual({ problem: undefined, lines: [] });
  expect(changes).toEqual(["this reaper's account may not get pods in all namespaces", "none"]);
  expect(reviews()).toBe(2 * needed.length);
});

test("a right that is missing at the second review is an error, once, and its return is a line", async () => {
  using clock = stopClock();
  const { rights, denied, changes, log, reviews } = arrange();
  denied.add("get");
  const reviewing = rights.review(signal);
  await clock.until("it is known at once", () => rights.problem() !== undefined);
  clock.pass(SURE_MS);
  await reviewing;
  await rights.review(signal);
  expect(reviews()).toBe(3 * needed.length);
  denied.delete("get");
  await rights.review(signal);
  expect(log.lines.map(({ level, message, fields }) => [level, message, fields.rights])).toEqual([
    ["error", "the reaper's account lacks permissions", ["get pods in all namespaces"]],
    ["info", "all permissions are granted: continuing", undefined],
  ]);
  expect(changes).toEqual(["this reaper's account may not get pods in all namespaces", "none", "granted"]);
});

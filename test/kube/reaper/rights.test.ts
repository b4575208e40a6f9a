import { expect, test } from "bun:test";
import { rightsNeeded } from "../../../src/core/reap/rights.ts";
import { ApiError } from "../../../src/kube/api/api-error.ts";
import { createRights } from "../../../src/kube/reaper/rights.ts";
import { until } from "../../harness.ts";
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
  const rights = createRights({ api, needed, changed: () => changes.push(rights.problem() ?? "none"), log });
  return { rights, denied, changes, reviews: () => reviews };
}

test("nothing is asked while nothing is refused, and a refusal is reviewed once if all is granted", async () => {
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
  const { rights, denied, changes, reviews } = arrange();
  denied.add("get");
  const stop = new AbortController();
  const running = rights.run(stop.signal);
  rights.refused(forbidden("get"));
  const problem = "this reaper's account may not get pods in all namespaces";
  expect(rights.problem()).toBe(problem);
  await until("it is reviewed", () => reviews() >= needed.length || undefined);
  denied.delete("get");
  await until("it is granted", () => rights.missing().length === 0 || undefined);
  const asked = reviews();
  rights.refused(forbidden("get"));
  await until("it is granted again", () => rights.missing().length === 0 || undefined);
  expect(reviews()).toBe(asked + needed.length); // those of the second refusal alone
  stop.abort();
  await running;
  expect(changes).toEqual([problem, "none", problem, "none"]);
});

test("what names no needed right changes nothing", () => {
  const { rights, changes } = arrange();
  rights.refused(forbidden("delete"));
  rights.refused(new ApiError("gone", { status: 404, reason: "NotFound", retryAfterMs: undefined }));
  rights.refused(undefined);
  expect(changes).toEqual([]);
});

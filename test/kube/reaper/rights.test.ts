import { expect, test } from "bun:test";
import { rightsNeeded } from "../../../src/core/reap/rights.ts";
import { ApiError } from "../../../src/kube/api/api-error.ts";
import { createRights } from "../../../src/kube/reaper/rights.ts";
import { until } from "../../harness.ts";
import { collectLog } from "../collect-log.ts";
import { createFakeApi } from "../fake-api.ts";

const needed = rightsNeeded({ namespaces: [], methods: ["exec"], onlyLooks: true, lease: undefined });

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

test("nothing is asked while nothing is refused", async () => {
  const { rights, reviews } = arrange();
  const stop = new AbortController();
  const running = rights.run(stop.signal);
  await Bun.sleep(50);
  stop.abort();
  await running;
  expect(reviews()).toBe(0);
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
  await Bun.sleep(50);
  expect(reviews()).toBe(asked);
  stop.abort();
  await running;
  expect(changes).toEqual([problem, "none"]);
});

test("what names no needed right changes nothing", () => {
  const { rights, changes } = arrange();
  rights.refused(forbidden("delete"));
  rights.refused(new ApiError("gone", { status: 404, reason: "NotFound", retryAfterMs: undefined }));
  rights.refused(undefined);
  expect(changes).toEqual([]);
});

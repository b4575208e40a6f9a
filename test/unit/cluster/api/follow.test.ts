import { expect, test } from "bun:test";
import type { ApiClient } from "../../../../src/cluster/api/client.ts";
import { listAt } from "../../../../src/cluster/api/list.ts";
import { withQuery } from "../../../../src/cluster/api/query.ts";
import { followObject } from "../../../../src/cluster/controller/follow.ts";
import { until } from "../../../harness/ebb.ts";
import { takes } from "../../../harness/time.ts";
import { collectLog } from "../collect-log.ts";
import { failureOf, line, object, SECRETS, serve, status } from "./served-answers.ts";

test("a query leaves out what is undefined and escapes the rest", () => {
  expect(withQuery("/x", { fieldSelector: "metadata.name=y", limit: undefined })).toBe(
    "/x?fieldSelector=metadata.name%3Dy",
  );
  expect(withQuery("/x", {})).toBe("/x");
});

const list =
  (version: number, ...items: object[]) =>
  () =>
    Response.json({ metadata: { resourceVersion: String(version) }, items });

/** A stream of these pieces, which then ends, or stays open. */
function stream(pieces: readonly string[], isOpen = false) {
  return () =>
    new Response(
      new ReadableStream({
        async start(controller) {
          for (const piece of pieces) {
            controller.enqueue(new TextEncoder().encode(piece));
            await takes(1); // apart from the next
          }
          if (!isOpen) controller.close();
        },
      }),
    );
}

/** The versions of the first three states of an object that is followed, and what was logged meanwhile; pauses are left out. */
async function followThree(api: ApiClient) {
  const seen: (string | undefined)[] = [];
  const log = collectLog();
  const stop = new AbortController();
  const following = followObject(
    api,
    { collection: SECRETS, name: "y" },
    (now) => seen.push(now?.metadata.resourceVersion),
    {
      wait: async () => undefined,
      log,
      signal: stop.signal,
    },
  );
  await until("three states", () => seen.length === 3, 30_000);
  stop.abort();
  await following;
  return { seen, log };
}

test("one object is followed: as it is, each change, its end; lines may come in any pieces", async () => {
  const changed = line("MODIFIED", object(8));
  await using server = serve(
    list(5, object(4)),
    stream([line("BOOKMARK", object(7)) + changed.slice(0, 9), changed.slice(9), line("DELETED", object(9))], true),
  );
  const { seen, log } = await followThree(server.api);
  expect(seen).toEqual(["4", "8", undefined]);
  expect(server.requests[0]).toBe(`GET ${SECRETS}?fieldSelector=metadata.name%3Dy`);
  expect(server.requests[1]).toMatch(
    /watch=1&allowWatchBookmarks=true&timeoutSeconds=\d+&fieldSelector=metadata.name%3Dy&resourceVersion=5$/,
  );
  expect(log.lines).toEqual([]);
});

test("a watch that ends at once, has expired, is refused or breaks begins again with a list; the same trouble is told once", async () => {
  const gone = { kind: "Status", code: 410, reason: "Expired", message: "too old resource version: 5 (6)" };
  const refuse = status(403, "Forbidden", "cannot list");
  await using server = serve(
    ...[list(5), stream([])],
    ...[list(6), stream([line("ERROR", gone)])],
    ...[refuse, refuse],
    ...[list(7, object(7)), stream([], true)],
  );
  const { seen, log } = await followThree(server.api);
  expect(seen).toEqual([undefined, undefined, "7"]);
  const told = log.lines.map(({ fields }) => fields.reason);
  expect(told).toEqual([
    `GET ${SECRETS}: the API server ends the watch at once`,
    `GET ${SECRETS}: too old resource version`,
    expect.stringContaining("403 cannot list"),
  ]);
});

test("a watch that fails after a good list is told once", async () => {
  const refuse = status(503, "ServiceUnavailable", "starting");
  await using server = serve(list(5), refuse, list(5), refuse, list(6), stream([], true));
  const { log } = await followThree(server.api);
  expect(log.lines.map(({ fields }) => fields.reason)).toEqual([
    `GET ${SECRETS}?watch=1&allowWatchBookmarks=true&fieldSelector=metadata.name=y: 503 starting`,
  ]);
});

test("an empty list may be null, as Go writes it", async () => {
  await using server = serve(() => Response.json({ metadata: {}, items: null }));
  expect(await listAt(server.api, "/x")).toEqual({ metadata: {}, items: [] });
});

test.each([['"abc"'], ["{}"], ["[null]"], ["[{}]"], ['[{"metadata":null}]'], ['[{"metadata":{"name":1}}]']])(
  "an answer with other items than objects is no list: %s",
  async (items) => {
    await using server = serve(() => new Response(`{"metadata":{},"items":${items}}`));
    const { message, reason } = await failureOf(listAt(server.api, "/x"));
    expect([message, reason]).toEqual(["GET /x: an answer that is not an API list", "Unreachable"]);
  },
);

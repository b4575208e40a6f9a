import { expect, test } from "bun:test";
import { connectionToClose, type Waiting } from "../../../src/core/cluster/connection.ts";

test.each<[string | undefined, Record<string, Waiting>]>([
  [undefined, {}],
  ["a", { a: { phase: "answering", until: 1 } }],
  ["b", { a: { phase: "idle", until: 2 }, b: { phase: "idle", until: 1 } }],
  ["b", { a: { phase: "receiving", until: 1 }, b: { phase: "idle", until: 2 } }],
  ["b", { a: { phase: "receiving", until: 2 }, b: { phase: "receiving", until: 1 } }],
  ["b", { a: { phase: "answering", until: 1 }, b: { phase: "receiving", until: 2 } }],
  ["b", { a: { phase: "receiving", until: 1 }, b: { phase: "closing", until: 2 } }],
])("where one is too many, %s closes, of %j", (closed, connections) => {
  expect(connectionToClose(Object.entries(connections))).toBe(closed);
});

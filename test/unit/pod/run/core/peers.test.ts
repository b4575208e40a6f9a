import { describe, expect, test } from "bun:test";
import {
  formatRecord,
  haveToldToQuit,
  type Peer,
  type PeerRecord,
  parseRecord,
  quitterOf,
  RECORD_BYTES,
  recordOf,
  whyNotLast,
} from "../../../../../src/pod/run/core/peers.ts";
import { mayRestartAfterCrash, parseRestartCodes, type RestartPolicy } from "../../../../../src/shared/core/restart.ts";

const records: readonly PeerRecord[] = (["started", "ended", "quitting"] as const).flatMap((state) =>
  [true, false].map((restarts) => ({ state, restarts })),
);

test("a record is read as it was written, and all have one length, so that no end needs more space than the start", () => {
  for (const record of records) {
    expect(formatRecord(record)).toHaveLength(RECORD_BYTES);
    expect(parseRecord(formatRecord(record))).toEqual(record);
  }
});

test("a record that is written over another, and read half-way, is one of the two, or none", () => {
  for (const before of records) {
    for (const after of records) {
      for (let at = 0; at <= RECORD_BYTES; at++) {
        const read = parseRecord(formatRecord(after).slice(0, at) + formatRecord(before).slice(at));
        expect([before, after, undefined]).toContainEqual(read as PeerRecord);
      }
    }
  }
});

test.each([
  ["", "an empty file"],
  ['{"state":"ended"', "a part of one"],
  ['{"state":"ended","restarts":false}', "one without its end"],
  ['{"state":"ended","restarts":"false"}'.padEnd(RECORD_BYTES), "another type"],
  ['{"state":"gone","restarts":false}'.padEnd(RECORD_BYTES), "an unknown word"],
  ["\0".repeat(RECORD_BYTES), "zeros"],
])("%p is no record: %s", (text) => {
  expect(parseRecord(text)).toBeUndefined();
});

test("a record is in the folder of its container", () => {
  expect(recordOf("worker")).toBe("/ebb.dev-apps/worker/state");
});

describe("the last one quits the sidecars: another container", () => {
  const peer = (record: Peer["record"], isLocked: boolean): Peer => ({ name: "worker", record, isLocked });
  test.each<[string, Peer, string | undefined]>([
    ["has not started", peer("missing", false), "worker has not started"],
    ["runs", peer({ state: "started", restarts: false }, true), "worker runs"],
    ["runs, and would come back", peer({ state: "started", restarts: true }, true), "worker runs"],
    ["crashed, and comes back", peer({ state: "started", restarts: true }, false), "the kubelet restarts worker"],
    ["crashed for good", peer({ state: "started", restarts: false }, false), undefined],
    ["ended, and comes back", peer({ state: "ended", restarts: true }, false), "the kubelet restarts worker"],
    ["ended for good", peer({ state: "ended", restarts: false }, false), undefined],
    ["ended for good, and decides", peer({ state: "ended", restarts: false }, true), undefined],
    ["has quit them before", peer({ state: "quitting", restarts: false }, false), undefined],
    ["is about to say that it runs", peer(undefined, true), "worker runs"],
    ["wrote anything", peer(undefined, false), "worker has no readable record"],
  ])("%s", (_, other, why) => {
    const done: Peer = { name: "web", record: { state: "ended", restarts: false }, isLocked: false };
    expect(whyNotLast([done, other])).toBe(why === undefined ? why : `--last-of: ${why}`);
  });

  test("all that is missing is said at once", () => {
    const other: Peer = { name: "b", record: { state: "started", restarts: false }, isLocked: true };
    expect(whyNotLast([peer("missing", false), other])).toBe("--last-of: worker has not started, b runs");
  });
});

test("one that says quitting has told the sidecars to quit, and no other", () => {
  const told = records.filter((record) => haveToldToQuit([{ name: "a", record, isLocked: false }]));
  expect(told.map(({ state }) => state)).toEqual(["quitting", "quitting"]);
  expect(haveToldToQuit([{ name: "a", record: "missing", isLocked: false }])).toBe(false);
});

test("one quits the sidecars while it says so and holds its lock", () => {
  const peer = (isLocked: boolean): Peer => ({ name: "a", record: { state: "quitting", restarts: false }, isLocked });
  expect([quitterOf([peer(true)]), quitterOf([peer(false)]), quitterOf([])]).toEqual(["a", undefined, undefined]);
});

describe("a crash of ebb", () => {
  test.each<[RestartPolicy | undefined, string | undefined, boolean]>([
    [undefined, undefined, false],
    ["Never", undefined, false],
    ["OnFailure", undefined, true],
    ["Always", undefined, true],
    ["Never", "42", false],
    ["Never", "0", false],
    ["Never", "137", true],
    ["Never", "!0", true],
  ])("with restartPolicy %s and --restart-codes %s: it may be restarted is %p", (restartPolicy, codes, may) => {
    const restartCodes = codes === undefined ? codes : parseRestartCodes(codes);
    expect(mayRestartAfterCrash({ restartPolicy, restartCodes })).toBe(may);
  });
});

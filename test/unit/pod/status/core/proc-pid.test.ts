import { describe, expect, test } from "bun:test";
import type { ProcessTable, Stat } from "../../../../../src/pod/process/core/process.ts";
import { processesOf } from "../../../../../src/pod/status/core/proc-pid.ts";

const process = (pid: number, comm: string, parent = 1, more: Partial<Stat> = {}): Stat => ({
  ...{ pid, comm, parent, state: "S", startTicks: pid },
  ...more,
});

const status = (processes: readonly Stat[], more: Partial<ProcessTable> = {}) =>
  processesOf({
    ...{
      processes,
      unreadable: 0,
      self: 90,
      ownCgroup: "0::/",
      initCgroup: "0::/",
      uptimeMs: 10_000,
      isInitOwn: undefined,
    },
    commandOf: (pid) => [`command of ${pid}`],
    ...more,
  });

const self = process(90, "ebb", 0);

describe("PID 1", () => {
  test("is ebb: its command is what it started first", () => {
    const seen = status([process(1, "ebb", 0), process(8, "orphan"), process(7, "app"), process(9, "sh", 7), self]);
    expect(seen).toMatchObject({ initIsEbb: true, child: { pid: 7, name: "app", ageMs: 9930 } });
    expect(seen.child?.command).toEqual(["command of 7"]);
  });

  test("is ebb in another tool's name", () => {
    const seen = status([process(1, "scuttle", 0), process(7, "app"), self], { isInitOwn: true });
    expect(seen).toMatchObject({ initIsEbb: true, child: { pid: 7, name: "app" } });
  });

  test("is somebody else: what it has started is its own business", () => {
    expect(status([process(1, "node", 0), process(7, "sh"), self])).toMatchObject({ initIsEbb: false, child: null });
  });

  test("is this very ebb: it has no command", () => {
    expect(status([process(1, "ebb", 0)], { self: 1 })).toMatchObject({ initIsEbb: true, child: null, shared: false });
  });

  test("has no age where uptime is another's", () => {
    expect(status([process(1, "node", 0, { startTicks: 9900 }), self]).init?.ageMs).toBeNull();
  });
});

test.each<[string, string, Partial<ProcessTable>, boolean | null]>([
  ["PID 1 is what holds the pod's namespaces", "pause", {}, true],
  ["PID 1 is in another container", "systemd", { initCgroup: "0::/../other" }, true],
  ["PID 1 is in this container", "app", {}, false],
  ["nobody can tell", "app", { initCgroup: undefined }, null],
])("where %s (%s), shared is %p", (_, name, more, shared) => {
  expect(status([process(1, name, 0), self], more).shared).toBe(shared);
});

test.each<[string, readonly Stat[], Partial<ProcessTable>, boolean]>([
  ["ebb is alone", [process(1, "ebb", 0)], { self: 1 }, false],
  ["PID 1 is the sidecar", [process(1, "pilot-agent", 0), process(7, "envoy"), self], {}, false],
  ["PID 1 is an init that sidecars have too", [process(1, "dumb-init", 0), process(7, "app"), self], {}, true],
  ["PID 1 is the app", [process(1, "app", 0), self], {}, true],
  ["PID 1 holds the pod's namespaces", [process(1, "pause", 0), process(7, "envoy", 0), self], {}, true],
])("in a container where %s, the app is seen: %4$p", (_, processes, more, appSeen) => {
  expect(status(processes, more).appSeen).toBe(appSeen);
});

test.each([
  ["R", "running"],
  ["D", "uninterruptible"],
  ["T", "stopped"],
  ["Z", "zombie"],
  ["?", "?"],
])("state %s is %s", (state, shown) => {
  expect(status([process(1, "node", 0, { state }), self]).init?.state).toBe(shown);
});

test("zombies are named with who should reap them", () => {
  const { zombies } = status([process(1, "node", 0), process(7, "sh", 1, { state: "Z" }), self]);
  expect(zombies).toEqual([{ pid: 7, name: "sh", parent: 1 }]);
});

describe("in a shared process namespace, the app", () => {
  const pause = process(1, "pause", 0);
  const proxy = [process(20, "pilot-agent", 0), process(21, "envoy", 20)];

  test.each<[string, readonly Stat[], boolean | null]>([
    ["has ended where sidecars are left", [pause, ...proxy, self], true],
    [
      "has ended though ebb was started by a shell",
      [pause, ...proxy, process(80, "sh", 0), { ...self, parent: 80 }],
      true,
    ],
    ["has ended though it is still a zombie", [pause, ...proxy, process(9, "app", 1, { state: "Z" }), self], true],
    ["runs", [pause, ...proxy, process(9, "app", 0), self], false],
    ["may never have been there", [pause, self], false],
    ["is unknown where it is not shared", [process(1, "pilot-agent", 0), process(7, "envoy"), self], null],
  ])("%s", (_, processes, appEnded) => {
    expect(status(processes).appEnded).toBe(appEnded);
  });
});

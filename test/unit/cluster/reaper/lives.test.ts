import { afterEach, beforeEach, expect, test } from "bun:test";
import { type FakeClock, stopClock } from "../../../harness/fake-clock.ts";
import { onChannel } from "../../../stand-in/api-server/api-server.ts";
import { running } from "./core/stuck-pods.ts";
import { endedEnvoy, fail, type Given, noCommand, podWith, reconcile, stuck, success } from "./reconciled.ts";

// The lives of stuck pods: what each attempt comes to, its Events and requests.

let clock: FakeClock;
beforeEach(() => {
  clock = stopClock();
});
afterEach(() => clock[Symbol.dispose]());

/** A reconciler of a pod that is stuck, in which /stop ends Envoy. */
function arrange(given: Given = {}) {
  const life = reconcile(clock, given);
  life.world.exec = async () => {
    life.put(endedEnvoy());
    return success;
  };
  return life;
}

const LONG_MS = 600_000;
const why = "the app has ended and will not restart (app: exit code 0), but envoy still runs";
const asked = `SidecarAsked: asked envoy to exit: ${why}; by exec in envoy: /stop`;
const said = "SidecarsEnded: ended: envoy, by exec in envoy: /stop";
const forward = "POST localhost:9901/quitquitquit through a port-forward";

test("a stuck pod is read, its sidecar is asked once, and its end is seen by the watch; nothing is left open", async () => {
  const { put, pass, told, requests, log, open, records } = arrange();
  put(stuck());
  await pass(0);
  expect(told).toEqual(["exec: taken", asked, "ended", said]);
  expect(requests).toEqual(["GET p", "exec p"]);
  expect(log.lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
    "info asked a sidecar to exit",
    "info sidecars ended",
  ]);
  expect([open.count, records.get("uid-p")?.attempt]).toEqual([0, undefined]);
});

test("a pod that no watch shows is read every 2 s until its sidecar has ended", async () => {
  const { putUnseen, list, pass, told, requests } = arrange({ isOnce: true });
  putUnseen(stuck());
  list();
  await pass(3000);
  expect(told).toEqual(["exec: taken", asked, "ended", said]);
  expect(requests).toEqual(["GET p", "exec p", "GET p"]);
});

test("one method is tried after the other, until one works", async () => {
  const { put, pass, told, world } = arrange();
  world.exec = async () => noCommand;
  world.forward = async () => {
    put(endedEnvoy());
    return [onChannel(0, "HTTP/1.1 200 OK\r\n\r\n")];
  };
  put(stuck());
  await pass(0);
  expect(told).toEqual([
    "exec: refused",
    "port-forward: taken",
    `SidecarAsked: asked envoy to exit: ${why}; by ${forward}`,
    "ended",
    `SidecarsEnded: ended: envoy, by ${forward}`,
  ]);
});

test.each([
  ["after three rounds", false, 3],
  ["after one where nobody comes again: --once", true, 1],
])("a pod whose methods are all refused is given up %s, with what each has come to", async (_, isOnce, rounds) => {
  const { put, putUnseen, list, pass, told, world } = arrange({ isOnce, methods: ["ephemeral", "exec"] });
  world.exec = async () => noCommand;
  world.patch = async () => fail(403, "403 not you");
  if (isOnce) putUnseen(stuck());
  if (isOnce) list();
  else put(stuck());
  await pass(LONG_MS);
  const round = ["ephemeral: refused", "exec: refused"];
  const given =
    "envoy still runs after all methods (ephemeral, exec); if its app is done, delete the pod (its Job counts that as a failure); envoy, by ephemeral container: ebb quit --sidecar envoy: 403 not you; envoy, by exec in envoy: /stop: no such file or directory";
  expect(told).toEqual([...Array(rounds).fill(round).flat(), "gave-up", `SidecarDidNotExit: ${given}`]);
});

test("an attempt waits while the API server is not well, and then goes on", async () => {
  const { put, pass, told, world } = arrange();
  const troubles = [503, 429, 500, undefined, 502];
  const { exec } = world;
  const trouble = async () => {
    const status = troubles.shift();
    if (status !== undefined) fail(status, "not now");
  };
  world.get = trouble;
  world.exec = async (name) => {
    await trouble();
    return await exec(name);
  };
  put(stuck());
  await pass(LONG_MS);
  expect(told).toEqual(["exec: unavailable", "exec: taken", asked, "ended", said]);
});

test.each([
  ["before the sidecar is asked", 0],
  ["while it has its time to exit", 1],
])("a pod that cannot be read is put off at last: %s", async (_, asks) => {
  const { putUnseen, list, pass, records, requests, world } = arrange({ isOnce: true });
  world.exec = async () => success;
  world.get = async () => {
    if (requests.filter((each) => each.startsWith("exec")).length >= asks) fail(503, "503 unwell");
  };
  putUnseen(stuck());
  list();
  await pass(LONG_MS);
  expect(records.get("uid-p")?.outcome).toEqual({ kind: "put-off", reason: "503 unwell" });
  const reads = requests.filter((each) => each === "GET p").length;
  expect(reads).toBe(7 + asks); // after each failed one it rests, also while the sidecar has its time to exit
});

test("reads that fail now and then do not add up", async () => {
  const { putUnseen, list, pass, told, world } = arrange({ isOnce: true });
  let reads = 0;
  world.exec = async () => success;
  world.get = async () => {
    reads += 1;
    if (reads === 21) putUnseen(endedEnvoy());
    if (reads % 2 === 0) fail(503, "unwell");
  };
  putUnseen(stuck());
  list();
  await pass(LONG_MS);
  expect(told.slice(-2)).toEqual(["ended", said]);
});

test("an attempt comes back when the API server says", async () => {
  const { put, pass, requests, world } = arrange();
  world.get = async () => fail(429, "busy", 20_000);
  put(stuck());
  await pass(19_750);
  expect(requests).toEqual(["GET p"]);
  await pass(250);
  expect(requests).toEqual(["GET p", "GET p"]);
});

test("a reaper that may not read the pod logs why in the server's words", async () => {
  const { put, pass, log, world } = arrange();
  const reason = 'GET: 403 User "x" cannot get resource "pods"';
  world.get = async () => fail(403, reason);
  put(stuck());
  await pass(0);
  expect(log.lines).toMatchObject([{ level: "warn", fields: { why: reason } }]);
});

test("a pod that is gone by the look is not touched, nor another one of its name", async () => {
  for (const change of ["gone", "replaced"]) {
    const { put, putUnseen, pass, api, told, requests, world } = arrange();
    world.get = async () => {
      if (change === "gone") api.objects.clear();
      else putUnseen(podWith(running, "p", { uid: "uid-2" }));
    };
    put(stuck());
    await pass(0);
    expect([told, requests]).toEqual([["gone"], ["GET p"]]);
  }
});

test("a pod that has opted out by the look is left alone", async () => {
  const { put, putUnseen, pass, log, requests, world } = arrange();
  world.get = async () => putUnseen(podWith(running, "p", { annotations: { "ebb.dev/reap": "false" } }));
  put(stuck());
  await pass(0);
  expect(requests).toEqual(["GET p"]);
  const reason = 'its annotation says ebb.dev/reap: "false"';
  expect(log.lines).toMatchObject([{ message: "pod left alone", fields: { why: reason } }]);
});

test("a stop cuts off the request, and no other begins", async () => {
  const { put, pass, told, requests, stop, open, world, failed } = arrange();
  world.exec = async () => [];
  put(stuck());
  await pass(1000);
  stop.abort();
  await pass(LONG_MS);
  expect([told, requests, open.count]).toEqual([["exec: unavailable"], ["GET p", "exec p"], 0]);
  expect(await failed).toBeUndefined();
});

test("a request that nobody answers within 10 s is given up, and the next method is tried", async () => {
  const { put, pass, told, open, world } = arrange({ methods: ["exec", "ephemeral"] });
  world.exec = async () => [];
  world.patch = async () => fail(422, "422 no");
  put(stuck());
  await pass(9750);
  expect(told).toEqual([]);
  await pass(250);
  expect(told).toEqual(["exec: unavailable", `${asked}; no answer within 10s`, "ephemeral: refused"]);
  expect(open.count).toBe(0);
});

const late = "the API server did not open it within 500ms of the look at the pod";

test("a command that is not begun soon after the look is given up: the next method follows, with its own look", async () => {
  const { put, putUnseen, pass, told, requests, world } = arrange({ methods: ["exec", "port-forward"] });
  world.exec = async () => {
    putUnseen(podWith(running, "p", { uid: "uid-2" }));
    return fail(undefined, "timeout");
  };
  put(stuck());
  await pass(0);
  expect(told).toEqual(["exec: unavailable", `${asked}; ${late}`, "gone"]);
  expect(requests).toEqual(["GET p", "exec p", "GET p"]);
});

test("a tunnel that opens too long after the look is tried again, after another look", async () => {
  const { put, pass, told, requests, world } = arrange({ methods: ["port-forward"] });
  world.forward = async () => {
    world.forward = async () => [onChannel(0, "HTTP/1.1 200 OK\r\n\r\n")];
    return fail(undefined, "timeout");
  };
  put(stuck());
  await pass(2000);
  expect(told.slice(0, 2)).toEqual(["port-forward: unavailable", "port-forward: taken"]);
  expect(requests).toEqual(["GET p", "forward p", "GET p", "forward p"]);
});

test("a sidecar's end by a command whose stream was given up counts as the command's", async () => {
  const { put, pass, told, world } = arrange();
  world.exec = async () => {
    put(endedEnvoy());
    return fail(undefined, "timeout");
  };
  put(stuck());
  await pass(0);
  expect(told).toEqual(["exec: unavailable", `${asked}; ${late}`, "ended", said]);
});

test("an answer is waited for, also where the watch has seen the sidecar's end", async () => {
  const { put, pass, told, world } = arrange();
  world.exec = async () => {
    put(endedEnvoy());
    return [];
  };
  put(stuck());
  await pass(9750);
  expect(told).toEqual([]);
  await pass(250);
  expect(told).toEqual(["exec: unavailable", `${asked}; no answer within 10s`, "ended", said]);
});

test("a bug in a method is thrown", async () => {
  const { put, pass, failed } = arrange({ send: () => Promise.reject(new TypeError("oops")) });
  put(stuck());
  await pass(0);
  expect(await failed).toEqual(new TypeError("oops"));
});

test("a request that the look makes another one is sent as that says", async () => {
  const { put, putUnseen, pass, log, world } = arrange();
  const annotations = { "ebb.dev/reap": "true", "ebb.dev/reap-exec.envoy": "/other" };
  world.get = async () => putUnseen(podWith(running, "p", { annotations }));
  put(stuck());
  await pass(0);
  expect(log.lines.map(({ fields }) => fields.method ?? fields.why)).toEqual([
    "exec in envoy: /other",
    "envoy, by exec in envoy: /other",
  ]);
});

test("a request that was taken has its Event, also if ebb is stopped meanwhile", async () => {
  const { put, pass, told, stop, world } = arrange();
  world.exec = async () => {
    queueMicrotask(() => stop.abort());
    return success;
  };
  put(stuck());
  await pass(0);
  expect(told).toEqual(["exec: taken", asked]);
});

test("a pod that is gone before a tunnel to it can be opened is gone, also where nothing is watched", async () => {
  const { putUnseen, list, pass, api, told, world } = arrange({ isOnce: true, methods: ["port-forward"] });
  world.forward = async () => {
    api.objects.clear();
    return fail(404, "404 not found");
  };
  putUnseen(stuck());
  list();
  await pass(0);
  expect(told).toEqual(["port-forward: refused", "gone"]);
});

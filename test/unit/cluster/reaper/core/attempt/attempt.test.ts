import { describe, expect, test } from "bun:test";
import type { Answer } from "../../../../../../src/cluster/reaper/core/attempt.ts";
import {
  answered,
  ended,
  ending,
  forward,
  gone,
  left,
  live,
  passed,
  proxy,
  refused,
  seen,
  stuck,
  taken,
  testLives,
  unanswered,
  unreadable,
  usual,
} from "./simulated-attempt.ts";

const denied: Answer = { kind: "refused", why: "403", isUnasked: true };
const unavailable = (afterMs?: number): Answer => ({
  kind: "unavailable",
  why: "503",
  ...(afterMs === undefined ? {} : { afterMs }),
});

describe("the usual life:", () => {
  testLives([
    ["see it, ask, see it ended", [seen(proxy), answered(taken), seen(ended)], ["exec in proxy", "wait 7000", "ended"]],
    [
      "the pod may be over by then",
      [seen(proxy), answered(taken), seen(left("over"))],
      ["exec in proxy", "wait 7000", "ended"],
    ],
    [
      "what changes meanwhile and keeps the sidecar is waited through",
      [seen(proxy), answered(taken), passed(1000), seen(proxy), seen(left("being-ended")), seen(ended)],
      ["exec in proxy", "wait 7000", "wait 6000", "wait 6000", "ended"],
    ],
    [
      "one sidecar after the other",
      [
        ...[seen(stuck(ending("daprd"), ending("proxy"))), answered(taken)],
        ...[seen(stuck(ending("daprd"), ending("proxy"))), seen(proxy), answered(taken), seen(ended)],
      ],
      ["exec in daprd", "wait 7000", "wait 7000", "exec in proxy", "wait 7000", "ended"],
    ],
  ]);
});

const thrice = [seen(proxy), answered(refused), seen(proxy), answered(refused), seen(proxy)];
const deniedTwice = [seen(proxy), answered(denied), seen(proxy), answered(denied), seen(proxy)];
const everyMethod = ["exec in proxy", "wait 0", "port-forward in proxy", "wait 0"];
const givenUp =
  "gave-up: proxy still runs after all methods (exec, port-forward); if its app is done, delete the pod (its Job counts that as a failure)";

describe("a method that does not work:", () => {
  testLives([
    [
      "refused: the next one",
      [seen(proxy), answered(refused), seen(proxy), answered(taken), seen(ended)],
      ["exec in proxy", "wait 0", "port-forward in proxy", "wait 7000", "ended"],
    ],
    [
      "taken, but the sidecar stays: the next one",
      [seen(proxy), answered(taken), passed(7000), seen(proxy)],
      ["exec in proxy", "wait 7000", "port-forward in proxy"],
    ],
    [
      "never answered: the next one",
      [seen(proxy), answered(unanswered), seen(proxy)],
      ["exec in proxy", "wait 0", "port-forward in proxy"],
    ],
    [
      "the container that was put into the pod is at work for longer than the patience: then the next one",
      [seen(proxy), answered(taken), passed(7000), seen(left("being-ended")), passed(5000), seen(proxy)],
      ["exec in proxy", "wait 7000", "wait 5000", "port-forward in proxy"],
    ],
    [
      "no method works: all are tried again after a rest, then the pod is given up",
      [...thrice, passed(7999), seen(proxy), passed(1), ...thrice],
      [...everyMethod, "wait 8000", "wait 1", ...everyMethod, givenUp],
    ],
    [
      "rights alone are missing: the pod is put off, because nobody has asked the sidecar",
      [...deniedTwice, passed(8000), ...deniedTwice],
      [...everyMethod, "wait 8000", ...everyMethod, "put-off: 403"],
    ],
    [
      "the sidecar goes, and the kubelet starts it again: the pod is given up, or its sidecar would be ended for ever",
      [seen(proxy), answered(taken), seen(left("sidecar-restarts", "OnFailure, exit code 143"))],
      ["exec in proxy", "wait 7000", "gave-up: OnFailure, exit code 143"],
    ],
    [
      "the container that was put into the pod does not start, and no method is left: the pod is given up, with the reason",
      [seen(proxy), answered(taken), seen(left("no-method", "ebb-reaper-1 does not start"))],
      ["exec in proxy", "wait 7000", "gave-up: ebb-reaper-1 does not start"],
    ],
  ]);

  describe("where one round is enough for what is refused outright", () => {
    const once = { ...usual, refusedRounds: 1 };
    const goneOn = [...everyMethod, "wait 8000"];
    const stays = [seen(proxy), answered(refused), seen(proxy), answered(taken), passed(7000), seen(proxy)];
    const silent = [seen(proxy), answered(refused), seen(proxy), answered(unanswered), seen(proxy)];

    test("the pod is given up after it", () => {
      expect(live(thrice, once).told).toEqual([...everyMethod, givenUp]);
    });

    test.each([
      ["a permission is missing", deniedTwice, goneOn],
      ["a method was not answered", silent, goneOn],
      ["a method was taken", stays, [...everyMethod.slice(0, 3), "wait 7000", "wait 8000"]],
    ])("%s: there is another round", (_, steps, told) => {
      expect(live(steps, once).told).toEqual(told);
    });
  });

  test("what was tried is told, in order, with the reasons", () => {
    const steps = [seen(proxy), answered(refused), seen(proxy), answered(taken), passed(7000), seen(proxy)];
    expect(live(steps, { ...usual, rounds: 1 }).next).toMatchObject({
      outcome: {
        kind: "gave-up",
        tried: [
          { container: "proxy", method: { kind: "exec" }, why: "404" },
          { container: "proxy", method: { kind: "port-forward" }, why: "taken, and still there 7s later" },
        ],
      },
    });
  });

  test("the reason to give up names the methods that were tried, also those that are left no more", () => {
    const one = { ...usual, rounds: 1 };
    const onlyForward = stuck(ending("proxy", [forward("proxy")]));
    const steps = [seen(proxy), answered(refused), seen(onlyForward), answered(refused), seen(onlyForward)];
    expect(live(steps, one).told.at(-1)).toBe(givenUp);
  });

  test("that an image would allow one more is said", () => {
    const lacking = stuck({ ...ending("proxy"), lacksImage: true });
    const steps = [seen(lacking), answered(refused), seen(lacking), answered(refused), seen(lacking)];
    expect(live(steps, { ...usual, rounds: 1 }).told.at(-1)).toBe(
      "gave-up: proxy still runs after all methods (exec, port-forward); --image IMAGE allows one more, an ephemeral container; if its app is done, delete the pod (its Job counts that as a failure)",
    );
  });
});

describe("an API server that is unwell:", () => {
  testLives([
    [
      "a pod that cannot be read is read again after a rest, each longer than the one before",
      [unreadable, passed(2000), unreadable, passed(4000), unreadable, passed(8000), seen(proxy)],
      ["wait 2000", "wait 4000", "wait 8000", "exec in proxy"],
    ],
    [
      "a request that is not answered is the next one too, after a rest",
      [seen(proxy), answered(unavailable()), seen(proxy), passed(2000), seen(proxy)],
      ["exec in proxy", "wait 2000", "wait 2000", "exec in proxy"],
    ],
    [
      "a request that was not answered may have been heard: the sidecar's end is its",
      [seen(proxy), answered(unavailable()), seen(ended)],
      ["exec in proxy", "wait 2000", "ended"],
    ],
    [
      "a pod of which request after request is not answered is put off, for others to have their turn",
      Array.from({ length: 7 }, () => [seen(proxy), answered(unavailable(1)), passed(60_000)]).flat(),
      [...[2, 4, 8, 16, 32, 60].flatMap((s) => ["exec in proxy", `wait ${s * 1000}`]), "exec in proxy", "put-off: 503"],
    ],
    [
      "a pod that cannot be read again and again is put off",
      Array.from({ length: 7 }, () => [unreadable, passed(60_000)]).flat(),
      [...[2, 4, 8, 16, 32, 60].map((s) => `wait ${s * 1000}`), "put-off: 503"],
    ],
    [
      "it says itself when the reaper is to come back",
      [{ unreadable: true, afterMs: 50_000 }, passed(50_000), seen(proxy), answered(unavailable(90_000))],
      ["wait 50000", "exec in proxy", "wait 90000"],
    ],
    ["rests differ by chance", [unreadable], ["wait 1000"], 0],
  ]);
});

describe("nothing is done any more", () => {
  testLives([
    ["when the pod is gone, or another has its name", [seen(gone)], ["gone"]],
    [
      "when it is replaced while a request is under way",
      [seen(proxy), answered(taken), seen(gone)],
      ["exec in proxy", "wait 7000", "gone"],
    ],
    ["when it is no longer stuck", [seen(left("app-running", "app still runs"))], ["left: app still runs"]],
    [
      "when its app has ended anew",
      [seen({ kind: "later", rule: "too-early", reason: "just now", at: 5 })],
      ["left: just now"],
    ],
    [
      "when it opts out while the sidecar has its time to go",
      [seen(proxy), answered(taken), seen(left("opted-out", "its label says no"))],
      ["exec in proxy", "wait 7000", "left: its label says no"],
    ],
    [
      "when a sidecar comes back before it was told anything",
      [seen(left("sidecar-restarts", "OnFailure"))],
      ["left: OnFailure"],
    ],
    ["when there is nothing to end", [seen(stuck())], ["left: nothing of it is to be ended"]],
    ["when its sidecars have ended by themselves", [seen(ended)], ["left: sidecars-ended"]],
    [
      "when it changes during a rest",
      [unreadable, seen(proxy), seen(left("deleted"))],
      ["wait 2000", "wait 2000", "left: deleted"],
    ],
    [
      "while another reaper's container is at work in it, which is looked after",
      [seen(left("being-ended")), passed(5000), seen(ended)],
      ["wait 5000", "left: sidecars-ended"],
    ],
  ]);
});

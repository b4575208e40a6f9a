import { describe } from "bun:test";
import type { Event, Observation, Result } from "../../../../src/core/reap/attempt-steps.ts";
import {
  act,
  acted,
  changed,
  ended,
  left,
  look,
  looked,
  over,
  proxy,
  refused,
  stop,
  stuck,
  taken,
  testLives,
} from "./simulated-attempt.ts";

const gone: Observation = { kind: "gone" };

const lookFailed = (turn: number): Event => ({ kind: "look-failed", turn, why: "refused" });

const unavailable = (afterMs?: number): Result => ({
  kind: "unavailable",
  why: "503",
  ...(afterMs === undefined ? {} : { afterMs }),
});

describe("an API server that is unwell:", () => {
  testLives([
    [
      "a look that fails is repeated after a rest, each longer than the one before",
      [lookFailed(1), over("rest"), lookFailed(2), over("rest"), over("answer"), over("rest"), looked(4, proxy)],
      [
        look(1),
        "disarm answer, arm rest 2000",
        look(2),
        "disarm answer, arm rest 4000",
        look(3),
        "abort, arm rest 8000",
        look(4),
        `disarm answer, ${act(5, "exec")}`,
      ],
    ],
    [
      "an act that is not answered is the next one too, after a rest and another look",
      [looked(1, proxy), acted(2, unavailable()), over("rest"), looked(3, proxy)],
      [
        look(1),
        `disarm answer, ${act(2, "exec")}`,
        "disarm answer, arm rest 2000",
        look(3),
        `disarm answer, ${act(4, "exec")}`,
      ],
    ],
    [
      "an act that was not answered may have been heard: the sidecar's end is its",
      [looked(1, proxy), acted(2, unavailable()), changed(ended)],
      [look(1), `disarm answer, ${act(2, "exec")}`, "disarm answer, arm rest 2000", "disarm rest, end ended"],
    ],
    [
      "where act after act is not answered it is put off, for others to have their turn",
      Array.from({ length: 7 }, (_, at) => [
        looked(2 * at + 1, proxy),
        acted(2 * at + 2, unavailable(1)),
        ...(at < 6 ? [over("rest")] : []),
      ]).flat(),
      [
        look(1),
        `disarm answer, ${act(2, "exec")}`,
        ...[2, 4, 8, 16, 32, 60].flatMap((seconds, at) => [
          `disarm answer, arm rest ${seconds * 1000}`,
          look(2 * at + 3),
          `disarm answer, ${act(2 * at + 4, "exec")}`,
        ]),
        "disarm answer, end put-off: 503",
      ],
    ],
    [
      "it says itself when to come back",
      [looked(1, proxy), acted(2, unavailable(90_000))],
      [look(1), `disarm answer, ${act(2, "exec")}`, "disarm answer, arm rest 90000"],
    ],
    ["rests differ by chance", [lookFailed(1)], [look(1), "disarm answer, arm rest 1000"], { chance: 0 }],
  ]);
});

describe("nothing is done any more", () => {
  testLives([
    ["when the pod is gone, or another has its name", [looked(1, gone)], [look(1), "disarm answer, end gone"]],
    [
      "when it is replaced while an act is under way",
      [looked(1, proxy), changed(gone)],
      [look(1), `disarm answer, ${act(2, "exec")}`, "disarm answer, abort, end gone"],
    ],
    [
      "when it is no longer stuck",
      [looked(1, left("app-running", "app still runs"))],
      [look(1), "disarm answer, end left: app still runs"],
    ],
    [
      "when it opts out while the sidecar has its time to go",
      [looked(1, proxy), acted(2, taken), changed(left("opted-out", "its label says no"))],
      [
        look(1),
        `disarm answer, ${act(2, "exec")}`,
        "disarm answer, arm patience 7000",
        "disarm patience, end left: its label says no",
      ],
    ],
    [
      "when a sidecar comes back before it was told anything",
      [looked(1, left("sidecar-restarts", "OnFailure"))],
      [look(1), "disarm answer, end left: OnFailure"],
    ],
    [
      "when there is nothing to end",
      [looked(1, stuck())],
      [look(1), "disarm answer, end left: nothing of it is to be ended"],
    ],
    [
      "when its sidecars have ended by themselves",
      [looked(1, ended)],
      [look(1), "disarm answer, end left: sidecars-ended"],
    ],
    [
      "when it changes during a rest",
      [lookFailed(1), changed(proxy), changed(left("deleted"))],
      [look(1), "disarm answer, arm rest 2000", "", "disarm rest, end left: deleted"],
    ],
    ["after a stop during a look", [stop], [look(1), "disarm answer, abort, end stopped"]],
    [
      "after a stop during an act",
      [looked(1, proxy), stop, acted(2, taken)],
      [look(1), `disarm answer, ${act(2, "exec")}`, "disarm answer, abort, end stopped", ""],
    ],
    [
      "after a stop while it is watched",
      [looked(1, proxy), acted(2, taken), stop, over("patience")],
      [
        look(1),
        `disarm answer, ${act(2, "exec")}`,
        "disarm answer, arm patience 7000",
        "disarm patience, end stopped",
        "",
      ],
    ],
    [
      "while another reaper's container is at work in it, which is looked after",
      [looked(1, left("being-ended")), over("rest"), looked(2, ended)],
      [look(1), "disarm answer, arm rest 5000", look(2), "disarm answer, end left: sidecars-ended"],
    ],
  ]);
});

describe("what is stale says nothing:", () => {
  testLives([
    ["the answer to an older look", [looked(0, proxy), looked(2, proxy)], [look(1), "", ""]],
    [
      "the answer to an act that was aborted",
      [looked(1, proxy), over("answer"), acted(2, taken)],
      [look(1), `disarm answer, ${act(2, "exec")}`, `abort, ${look(3)}`, ""],
    ],
    [
      "deadlines of other phases",
      [over("rest"), over("patience"), looked(1, proxy), over("rest"), over("patience")],
      [look(1), "", "", `disarm answer, ${act(2, "exec")}`, "", ""],
    ],
    [
      "answers and deadlines of what is over, while it is watched",
      [looked(1, proxy), acted(2, taken), acted(2, refused), over("answer"), over("rest"), looked(2, gone)],
      [look(1), `disarm answer, ${act(2, "exec")}`, "disarm answer, arm patience 7000", "", "", "", ""],
    ],
    [
      "answers and deadlines of what is over, during a rest",
      [lookFailed(1), lookFailed(1), looked(1, gone), over("answer"), over("patience")],
      [look(1), "disarm answer, arm rest 2000", "", "", "", ""],
    ],
    [
      "a change seen by the watch during a look",
      [changed(gone), looked(1, gone)],
      [look(1), "", "disarm answer, end gone"],
    ],
  ]);
});

import { describe, expect, test } from "bun:test";
import { beginAttempt, stepAttempt } from "../../../../src/core/reap/attempt.ts";
import type { Action, Result, State } from "../../../../src/core/reap/attempt-steps.ts";
import {
  act,
  acted,
  changed,
  ended,
  ending,
  left,
  look,
  looked,
  over,
  proxy,
  refused,
  stuck,
  taken,
  testLives,
  usual,
} from "./simulated-attempt.ts";

const denied: Result = { kind: "refused", why: "403", isDenied: true };

describe("the usual life:", () => {
  testLives([
    [
      "look, act, watch it go",
      [looked(1, proxy), acted(2, taken), changed(ended)],
      [look(1), `disarm answer, ${act(2, "exec")}`, "disarm answer, arm patience 7000", "disarm patience, end ended"],
    ],
    [
      "the pod may be over by then",
      [looked(1, proxy), acted(2, taken), changed(left("over"))],
      [look(1), `disarm answer, ${act(2, "exec")}`, "disarm answer, arm patience 7000", "disarm patience, end ended"],
    ],
    [
      "what changes meanwhile and keeps the sidecar is waited through",
      [looked(1, proxy), acted(2, taken), changed(proxy), changed(left("being-ended")), changed(ended)],
      [
        look(1),
        `disarm answer, ${act(2, "exec")}`,
        "disarm answer, arm patience 7000",
        "",
        "",
        "disarm patience, end ended",
      ],
    ],
    [
      "its end may be seen before the act is answered",
      [looked(1, proxy), changed(ended)],
      [look(1), `disarm answer, ${act(2, "exec")}`, "disarm answer, abort, end ended"],
    ],
    [
      "one sidecar after the other, each after a look of its own",
      [
        looked(1, stuck(ending("daprd"), ending("proxy"))),
        acted(2, taken),
        changed(stuck(ending("daprd"), ending("proxy"))),
        changed(proxy),
        looked(3, proxy),
        acted(4, taken),
        changed(ended),
      ],
      [
        look(1),
        `disarm answer, ${act(2, "exec", "daprd")}`,
        "disarm answer, arm patience 7000",
        "",
        `disarm patience, ${look(3)}`,
        `disarm answer, ${act(4, "exec")}`,
        "disarm answer, arm patience 7000",
        "disarm patience, end ended",
      ],
    ],
  ]);
});

describe("a means that does not work:", () => {
  testLives([
    [
      "refused: the next one, after another look",
      [looked(1, proxy), acted(2, refused), looked(3, proxy), acted(4, taken), changed(ended)],
      [
        look(1),
        `disarm answer, ${act(2, "exec")}`,
        `disarm answer, ${look(3)}`,
        `disarm answer, ${act(4, "port-forward")}`,
        "disarm answer, arm patience 7000",
        "disarm patience, end ended",
      ],
    ],
    [
      "taken, but the sidecar stays: the next one",
      [looked(1, proxy), acted(2, taken), over("patience"), looked(3, proxy)],
      [
        look(1),
        `disarm answer, ${act(2, "exec")}`,
        "disarm answer, arm patience 7000",
        look(3),
        `disarm answer, ${act(4, "port-forward")}`,
      ],
    ],
    [
      "never answered: the next one",
      [looked(1, proxy), over("answer"), looked(3, proxy)],
      [look(1), `disarm answer, ${act(2, "exec")}`, `abort, ${look(3)}`, `disarm answer, ${act(4, "port-forward")}`],
    ],
    [
      "none works: all again after a rest, then it is given up",
      [
        ...[looked(1, proxy), acted(2, refused), looked(3, proxy), acted(4, refused), looked(5, proxy)],
        ...[over("rest"), looked(6, proxy), acted(7, refused), looked(8, proxy), acted(9, refused), looked(10, proxy)],
      ],
      [
        look(1),
        `disarm answer, ${act(2, "exec")}`,
        `disarm answer, ${look(3)}`,
        `disarm answer, ${act(4, "port-forward")}`,
        `disarm answer, ${look(5)}`,
        "disarm answer, arm rest 8000",
        look(6),
        `disarm answer, ${act(7, "exec")}`,
        `disarm answer, ${look(8)}`,
        `disarm answer, ${act(9, "port-forward")}`,
        `disarm answer, ${look(10)}`,
        "disarm answer, end gave-up: proxy still runs after all methods; if its app is done, delete the pod",
      ],
    ],
    [
      "rights alone are missing: it is put off, because nobody has asked the sidecar",
      [
        ...[looked(1, proxy), acted(2, denied), looked(3, proxy), acted(4, denied), looked(5, proxy)],
        ...[over("rest"), looked(6, proxy), acted(7, denied), looked(8, proxy), acted(9, denied), looked(10, proxy)],
      ],
      [
        look(1),
        `disarm answer, ${act(2, "exec")}`,
        `disarm answer, ${look(3)}`,
        `disarm answer, ${act(4, "port-forward")}`,
        `disarm answer, ${look(5)}`,
        "disarm answer, arm rest 8000",
        look(6),
        `disarm answer, ${act(7, "exec")}`,
        `disarm answer, ${look(8)}`,
        `disarm answer, ${act(9, "port-forward")}`,
        `disarm answer, ${look(10)}`,
        "disarm answer, end put-off: 403",
      ],
    ],
    [
      "it goes, and the kubelet starts it again: it is given up, or it would be ended for ever",
      [looked(1, proxy), acted(2, taken), changed(left("sidecar-restarts", "OnFailure, exit code 143"))],
      [
        look(1),
        `disarm answer, ${act(2, "exec")}`,
        "disarm answer, arm patience 7000",
        "disarm patience, end gave-up: OnFailure, exit code 143",
      ],
    ],
    [
      "the container that was put into the pod does not start, and nothing else is left: it is given up, with the reason",
      [looked(1, proxy), acted(2, taken), changed(left("no-method", "ebb-reaper-1 does not start"))],
      [
        look(1),
        `disarm answer, ${act(2, "exec")}`,
        "disarm answer, arm patience 7000",
        "disarm patience, end gave-up: ebb-reaper-1 does not start",
      ],
    ],
  ]);

  test("what was tried is told, in order, with the reasons", () => {
    const events = [
      looked(1, proxy),
      acted(2, refused),
      looked(3, proxy),
      acted(4, taken),
      over("patience"),
      looked(5, proxy),
    ];
    const [last] = events.reduce<readonly [State, readonly Action[]]>(
      ([state], event) => stepAttempt(state, event, { ...usual, rounds: 1 }),
      beginAttempt(usual),
    );
    expect(last).toMatchObject({
      phase: "over",
      outcome: {
        kind: "gave-up",
        tried: [
          { container: "proxy", method: { kind: "exec" }, why: "404" },
          { container: "proxy", method: { kind: "port-forward" }, why: "taken, and still there 7s later" },
        ],
      },
    });
  });
});

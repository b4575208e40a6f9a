import { describe, expect, test } from "bun:test";
import { begin, step } from "../../../src/core/reap/attempt.ts";
import type { Action, AttemptPolicy, Event, Observation, Result, State } from "../../../src/core/reap/attempt-steps.ts";
import type { Ending, Means } from "../../../src/core/reap/means.ts";
import type { Rule } from "../../../src/core/reap/pod-rules.ts";
import { actionsOf } from "../run/machine.ts";

const usual: AttemptPolicy = { rounds: 2, answerMs: 30_000, rest: { firstMs: 1000, longestMs: 60_000 }, chance: 1 };

const exec = (container: string): Means => ({ kind: "exec", container, command: ["/stop"] });
const forward = (container: string): Means => ({
  kind: "port-forward",
  container,
  requests: [{ port: 1, method: "POST", path: "/quit", headers: [] }],
});

const ending = (container: string, means: readonly Means[] = [exec(container), forward(container)]): Ending => ({
  container,
  sidecar: "istio",
  means,
  patienceMs: 7000,
});

const stuck = (...containers: readonly Ending[]): Observation => ({
  kind: "end",
  rule: "stuck",
  reason: "stuck",
  containers,
});
const left = (rule: Rule, reason: string = rule): Observation => ({ kind: "leave", rule, reason });
const proxy = stuck(ending("proxy"));
const ended = left("sidecars-ended");
const gone: Observation = { kind: "gone" };

const looked = (turn: number, observation: Observation): Event => ({ kind: "looked", turn, observation });
const lookFailed = (turn: number): Event => ({ kind: "look-failed", turn, why: "refused" });
const acted = (turn: number, result: Result): Event => ({ kind: "acted", turn, result });
const changed = (observation: Observation): Event => ({ kind: "changed", observation });
const taken: Result = { kind: "taken" };
const refused: Result = { kind: "refused", why: "404" };
const denied: Result = { kind: "refused", why: "403", isDenied: true };
const unavailable = (afterMs?: number): Result => ({
  kind: "unavailable",
  why: "503",
  ...(afterMs === undefined ? {} : { afterMs }),
});
const over = (of: "answer" | "patience" | "rest"): Event => ({ kind: "deadline", of });
const stop: Event = { kind: "stop" };

/** `look 1`, `act 2 exec in proxy`, `arm rest 1000`, `end gave-up: ...`. */
function tell(action: Action): string {
  switch (action.kind) {
    case "look":
      return `look ${action.turn}`;
    case "act":
      return `act ${action.turn} ${action.act.means.kind} in ${action.act.container}`;
    case "abort":
      return "abort";
    case "arm":
      return `arm ${action.deadline} ${action.ms}`;
    case "disarm":
      return `disarm ${action.deadline}`;
    case "end": {
      const { kind, ...rest } = action.outcome;
      return `end ${kind}${"reason" in rest ? `: ${rest.reason}` : ""}`;
    }
  }
}

function live(events: readonly Event[], policy: AttemptPolicy = usual): readonly string[] {
  const machine = { begin: () => begin(policy), step: (state: State, event: Event) => step(state, event, policy) };
  return actionsOf(machine, events).map((actions) => actions.map(tell).join(", "));
}

const look = (turn: number) => `look ${turn}, arm answer 30000`;
const act = (turn: number, kind: string, container = "proxy") =>
  `act ${turn} ${kind} in ${container}, arm answer 30000`;

/** A title, the events, and what is done at the begin and in answer to each. */
type Life = readonly [
  title: string,
  events: readonly Event[],
  actions: readonly string[],
  policy?: Partial<AttemptPolicy>,
];

function testLives(lives: readonly Life[]): void {
  test.each(lives.map(([title, events, actions, policy = {}]) => [title, events, actions, policy] as const))(
    "%s",
    (_, events, actions, policy) => expect(live(events, { ...usual, ...policy })).toEqual([...actions]),
  );
}

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
        "disarm answer, end gave-up: proxy does not go, whatever it is told",
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
      [looked(1, proxy), acted(2, taken), changed(left("no-means", "ebb-reaper-1 does not start"))],
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
      ([state], event) => step(state, event, { ...usual, rounds: 1 }),
      begin(usual),
    );
    expect(last).toMatchObject({
      phase: "over",
      outcome: {
        kind: "gave-up",
        tried: [
          { container: "proxy", means: { kind: "exec" }, why: "404" },
          { container: "proxy", means: { kind: "port-forward" }, why: "taken, and still there 7s later" },
        ],
      },
    });
  });
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

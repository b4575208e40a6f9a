import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Seen } from "../../case.ts";
import { differences } from "../../differences.ts";
import type { Rival } from "../../rivals.ts";
import type { Outcome } from "../../run.ts";
import { type Aspect, aspects, compare, MARGIN_MS } from "../compare.ts";
import { factsOf } from "../facts.ts";
import type { Plan } from "../plan/planned.ts";
import { known, unexplained } from "./known.ts";

type Change = Partial<Seen> & Partial<Omit<Outcome, "seen">>;

/** A line of examples.jsonl: a plan beside a tool, and what differs in the runs from a plain run; `ours` is ebb's. */
interface Example {
  readonly by: (typeof known)[number]["by"];
  readonly rival: Rival;
  readonly plan: Partial<Plan>;
  readonly ours?: Change;
  readonly theirs: Change;
}

const lines = readFileSync(join(import.meta.dirname, "examples.jsonl"), "utf8")
  .trim()
  .split("\n");
const examples = lines.map((line): Example => JSON.parse(line));

const plain: Omit<Plan, "rival"> = {
  seed: 1,
  env: {},
  flags: [],
  command: ["app", "exit", "0"],
  servers: [],
  steps: [],
  launch: [],
};
const usual: Seen = { code: 0, started: "when ready", polls: [], requests: [], signals: [], agent: [], stdout: "" };

function outcome({ stderr = "", waitedMs = 20, tookMs = 30, given = [], left = 0, ...more }: Change = {}): Outcome {
  const { leavingMs = more.started === "no" ? undefined : 5, ...seen } = more;
  return { seen: { ...usual, ...seen }, stderr, waitedMs, tookMs, leavingMs, given, left, stalledMs: 0 };
}

function factsFor({ rival, plan }: Example, ours: Outcome, theirs: Outcome) {
  return factsOf({ ...plain, ...plan, rival }, ours, theirs, MARGIN_MS);
}

function verdict(example: Example, ours: Outcome, theirs: Outcome) {
  return unexplained(compare(ours, theirs), factsFor(example, ours, theirs));
}

/** The same run, with something else about one aspect. */
const others: Readonly<Record<Aspect, (outcome: Outcome) => Outcome>> = {
  code: (from) => withSeen(from, { code: 77 }),
  started: (from) => withSeen(from, { started: from.seen.started === "unready" ? "when ready" : "unready" }),
  polls: (from) => withSeen(from, { polls: [...from.seen.polls, "7 GET /other"] }),
  requests: (from) => withSeen(from, { requests: [...from.seen.requests, "7 POST /other"] }),
  signals: (from) => withSeen(from, { signals: [...from.seen.signals, 63] }),
  agent: (from) => withSeen(from, { agent: [...from.seen.agent, 9] }),
  stdout: (from) => withSeen(from, { stdout: `${from.seen.stdout}other` }),
  given: (from) => ({ ...from, given: [...from.given, "word other"] }),
  left: (from) => ({ ...from, left: from.left + 5 }),
  waited: (from) => ({ ...from, waitedMs: from.waitedMs + 60_000 }),
  leaving: (from) => ({ ...from, leavingMs: (from.leavingMs ?? 0) + 60_000 }),
};

function withSeen(from: Outcome, seen: Partial<Seen>): Outcome {
  return { ...from, seen: { ...from.seen, ...seen } };
}

/** The differences that are known by what both did alone, whatever the plan says. */
const notOfPlan = ["first-instant", "no-command", "usage-code", "stdout", "wait-timeout", "signal-death"];

describe.each(examples.map((example, at) => [`${example.by} of ${example.rival}, ${at}`, example] as const))(
  "%s",
  (_, example) => {
    const [ours, theirs] = [outcome(example.ours), outcome(example.theirs)];
    const isAll = known.some(
      ({ by, rivals, isAll, isHere }) =>
        isAll && by === example.by && rivals.includes(example.rival) && isHere(factsFor(example, ours, theirs)),
    );

    test("explains what it is for", () => {
      expect(verdict(example, ours, theirs)).toEqual({ left: [], by: [example.by] });
    });

    test.skipIf(notOfPlan.includes(example.by))("explains nothing where the plan says nothing of it", () => {
      const bare = { ...example, plan: { command: example.plan.command ?? plain.command } };
      expect(verdict(bare, ours, theirs).left).not.toEqual([]);
    });

    // what cannot differ: a time of a run that has none, what a command was given that was not started
    const comparable = aspects.filter((aspect) => compare(others[aspect](ours), ours).includes(aspect));

    test.each(isAll ? [] : comparable)("does not explain another difference in %s", (aspect) => {
      const changed = others[aspect](ours);
      if (compare(changed, theirs).includes(aspect)) expect(verdict(example, changed, theirs).left).toContain(aspect);
    });

    test.each(isAll ? (["code", "requests"] as const) : [])("knows one of both whole: its %s", (aspect) => {
      const changed = [verdict(example, ours, others[aspect](theirs)), verdict(example, others[aspect](ours), theirs)];
      expect(changed.flatMap(({ left }) => left)).not.toEqual([]);
    });
  },
);

test("each known difference has an example, and is a listed one", () => {
  const [named, listed] = [examples, differences.map(({ id }) => ({ by: id }))].map(
    (all) => new Set<string>(all.map(({ by }) => by)),
  );
  expect(known.filter(({ by }) => !named?.has(by) || !listed?.has(by)).map(({ by }) => by)).toEqual([]);
});

import { test } from "bun:test";
import {
  begin,
  type DrainAction,
  type DrainDeadline,
  type DrainEvent,
  type DrainOutcome,
  type DrainPolicy,
  type DrainRequest,
  type DrainState,
  step,
} from "../../../../../src/pod/envoy/core/drain.ts";
import { expectLife } from "../../run/core/machine.ts";

export const usual: DrainPolicy = {
  boundMs: 60_000,
  minMs: 5000,
  maxInFlight: 0,
  isListenersFirst: false,
  wasUp: false,
};

/**
 * A drain by its steps, `EVENT` or `EVENT: ACTIONS`, as `eventOf` reads and `tell` writes them. It begins as usual,
 * unless the first step is `begin: ACTIONS`. `counts` is all until the first count, `again` all until the next one.
 */
type Drain = readonly [title: string, steps: string, policy?: Partial<DrainPolicy>];

const counts = "done fail-health; minimum over: ask drain-listeners; done drain-listeners: ask count";
const begun = "begin: arm bound 60000, arm last look 59750, arm minimum 5000, ask fail-health; ";

/** Declares a test for each drain. */
export function testDrains(common: Partial<DrainPolicy>, drains: readonly Drain[]): void {
  const rows = drains.map(([title, steps, policy]) => [title, steps, { ...usual, ...common, ...policy }] as const);
  test.each(rows)("%s", (_, steps, policy) => {
    const spelt = steps.replace("counts", counts).replaceAll("again", "arm poll 1000; poll over: ask count");
    const machine = {
      begin: () => begin(policy),
      step: (state: DrainState, event: DrainEvent) => step(state, event, policy),
    };
    expectLife(machine, steps.startsWith("begin: ") ? spelt : `${begun}${spelt}`, eventOf, tell);
  });
}

/** Writes actions as text: `arm poll 1000, ask count`, `end drained`. */
function tell(actions: readonly DrainAction[]): string {
  return actions
    .map(({ kind, ...rest }) => ("outcome" in rest ? `end ${tellOutcome(rest.outcome)}` : words(kind, rest)))
    .join(", ");
}

function words(kind: string, rest: object): string {
  return [kind, ...Object.values(rest)].join(" ");
}

/** Writes an outcome as text: `drained`, `out of time REQUESTS CONNECTIONS`. */
function tellOutcome(outcome: DrainOutcome): string {
  if (outcome.kind !== "out of time") return outcome.kind;
  return `out of time ${outcome.left.requests} ${outcome.left.connections}`;
}

/** Reads `done fail-health`, `failed count`, `refused count`, `counted REQUESTS CONNECTIONS`, `last look over`, `cut`. */
export function eventOf(text: string): DrainEvent {
  const [first, second = "", third = 0] = text.split(" ");
  if (text === "cut") return { kind: "cut" };
  if (text.endsWith(" over")) return { kind: "deadline", of: text.slice(0, -" over".length) as DrainDeadline };
  if (first === "done") return { kind: "done", request: second as Exclude<DrainRequest, "count"> };
  if (first !== "counted") return { kind: "failed", request: second as DrainRequest, isRefused: first === "refused" };
  const inFlight = { requests: Number(second), connections: Number(third), hasRequests: true } as const;
  return { kind: "counted", inFlight: { ...inFlight, countedBy: "listeners" } };
}

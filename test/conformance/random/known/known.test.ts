import { describe, expect, test } from "bun:test";
import type { Seen } from "../../case.ts";
import { differences } from "../../differences.ts";
import type { Rival } from "../../rivals.ts";
import type { Outcome } from "../../run.ts";
import { type Aspect, aspects, compare, MARGIN_MS } from "../compare.ts";
import { factsOf } from "../facts.ts";
import type { Plan, PlannedServer } from "../plan/planned.ts";
import { known, unexplained } from "./known.ts";

type Change = Partial<Seen> & Partial<Omit<Outcome, "seen">>;

interface Example {
  readonly by: (typeof known)[number]["by"];
  readonly rival: Rival;
  readonly plan: Partial<Plan>;
  readonly ours?: Change;
  readonly theirs: Change;
}

const usual: Seen = { code: 0, started: "when ready", polls: [], requests: [], signals: [], agent: [], stdout: "" };
const nothing: Change = { started: "no", leavingMs: undefined };
const stuck: Change = { ...nothing, code: "still running", waitedMs: 9000 };

function outcome({ stderr = "", waitedMs = 20, tookMs = 30, given = [], left = 0, ...seen }: Change): Outcome {
  const { leavingMs = "leavingMs" in seen ? undefined : 5, stalledMs: _, ...rest } = seen;
  return { seen: { ...usual, ...rest }, stderr, waitedMs, tookMs, leavingMs, given, left, stalledMs: 0 };
}

const plain: Plan = {
  rival: "scuttle",
  seed: 1,
  env: {},
  flags: [],
  command: ["app", "exit", "0"],
  servers: [],
  steps: [],
  launch: [],
};

const istioEnv = { ENVOY_ADMIN_API: "http://127.0.0.1:15000", ISTIO_QUIT_API: "http://127.0.0.1:15020" };
const quit = "15020 POST /quitquitquit";
const agent = (...others: NonNullable<PlannedServer["others"]>): PlannedServer => ({
  port: 15_020,
  others,
  ends: [15_020],
});
const polled = (port: number, ...polls: NonNullable<PlannedServer["polls"]>): PlannedServer => ({ port, polls });
const linkerd = (...others: NonNullable<PlannedServer["others"]>): PlannedServer => ({
  port: 4191,
  others,
  ends: [4191],
});
const shutdown = "4191 POST /shutdown";
const stop = (signal: number): Plan["steps"][number] => ({ once: { ms: 500 }, act: { signal } });
const send = (signal: number): Plan["steps"][number] => ({ once: "started", afterMs: 150, act: { signal } });
const request = (...others: NonNullable<PlannedServer["others"]>) => ({
  command: [],
  flags: ["request", "GET", "/x"],
  servers: [{ port: 15_000, others }],
});
const asked = ["15000 GET /x"];

const waits: readonly Example[] = [
  {
    by: "sooner",
    rival: "linkerd-await",
    plan: { servers: [polled(4191, "not ready", "ready")] },
    theirs: { waitedMs: 5000 },
  },
  {
    by: "patience",
    rival: "pilot-agent",
    plan: { command: [], flags: ["wait"], servers: [polled(15_021, "ready, late")] },
    ours: { ...nothing, waitedMs: 900 },
    theirs: { ...stuck },
  },
  { by: "hanging-poll", rival: "envoy-preflight", plan: { servers: [polled(9901, "hangs", "live")] }, theirs: stuck },
  {
    by: "hanging-poll",
    rival: "scuttle",
    plan: { servers: [polled(15_000, "hangs", "live")] },
    theirs: { started: "unready", waitedMs: 2000 },
  },
  {
    by: "status",
    rival: "scuttle",
    plan: { servers: [polled(15_000, "live, but 500", "live")] },
    theirs: { started: "unready" },
  },
  {
    by: "status",
    rival: "scuttle",
    plan: { servers: [polled(15_000, "live, but 500")] },
    ours: { ...nothing, code: 69, waitedMs: 1000 },
    theirs: { started: "unready" },
  },
  {
    by: "half-answer",
    rival: "linkerd-await",
    plan: { servers: [polled(4191, "half", "ready")] },
    theirs: { started: "unready" },
  },
  {
    by: "redirect",
    rival: "pilot-agent",
    plan: request("301"),
    ours: { ...nothing, requests: asked },
    theirs: { ...nothing, code: 255, requests: [...asked, "15000 GET /elsewhere", "15000 GET /elsewhere again"] },
  },
  {
    by: "stop-while-waiting",
    rival: "scuttle",
    plan: { env: istioEnv, steps: [stop(15)], servers: [agent("quits")] },
    ours: { ...nothing, code: 143, waitedMs: 2500, requests: [quit] },
    theirs: { ...nothing, code: 143, waitedMs: 500 },
  },
  {
    by: "stop-while-waiting",
    rival: "scuttle",
    plan: { env: istioEnv, steps: [stop(3)], servers: [agent("quits")] },
    ours: { ...nothing, code: 131 },
    theirs: { ...nothing, code: 2 },
  },
  {
    by: "wait-timeout",
    rival: "linkerd-await",
    plan: { servers: [linkerd("closes")] },
    ours: { ...nothing, code: 69, waitedMs: 2000, requests: [shutdown] },
    theirs: { ...nothing, code: 69, waitedMs: 700 },
  },
  {
    by: "bad-value",
    rival: "scuttle",
    plan: { env: { ENVOY_ADMIN_API: "nonsense" } },
    ours: { ...nothing, code: 64 },
    theirs: stuck,
  },
];

const runs: readonly Example[] = [
  {
    by: "signal-death",
    rival: "scuttle",
    plan: { command: ["app", "die", "9"] },
    ours: { code: 137 },
    theirs: { code: 255 },
  },
  {
    by: "first-instant",
    rival: "envoy-preflight",
    plan: { env: { ENVOY_ADMIN_API: "http://127.0.0.1:9901" } },
    ours: { requests: ["9901 POST /quitquitquit"] },
    theirs: { code: 1, started: "no", left: 1 },
  },
  {
    by: "first-instant",
    rival: "scuttle-redbox",
    plan: { env: istioEnv },
    ours: { requests: [quit] },
    theirs: { requests: [quit, `${quit} again`] },
  },
  {
    by: "first-instant",
    rival: "scuttle",
    plan: { command: ["app", "until", "15", "0"], steps: [send(15)] },
    ours: { signals: [15] },
    theirs: { code: 143, left: 1 },
  },
  {
    by: "not-started",
    rival: "scuttle",
    plan: { env: istioEnv, command: ["no-such-program"], servers: [agent("quits")] },
    ours: { ...nothing, code: 127, requests: [quit] },
    theirs: { ...nothing, code: 2 },
  },
  { by: "no-command", rival: "scuttle", plan: { command: [] }, ours: { ...nothing, code: 64 }, theirs: nothing },
  {
    by: "usage-code",
    rival: "linkerd-await",
    plan: {},
    ours: { ...nothing, code: 64 },
    theirs: { ...nothing, code: 2 },
  },
  {
    by: "only-sigterm",
    rival: "linkerd-await",
    plan: { command: ["app", "until", "15", "3"], steps: [send(10), send(15)], servers: [linkerd("quits")] },
    ours: { code: 3, signals: [10, 15], requests: [shutdown] },
    theirs: { code: 138, left: 1 },
  },
  {
    by: "ignored-signals",
    rival: "linkerd-await",
    plan: { launch: ["ignore", "13"] },
    ours: { given: ["umask 22", "ignored 13"] },
    theirs: { given: ["umask 22"] },
  },
  {
    by: "blocked-signals",
    rival: "scuttle",
    plan: { launch: ["block", "17"] },
    ours: { given: ["umask 22", "blocked 17"] },
    theirs: { given: ["umask 22"] },
  },
  { by: "stdout", rival: "scuttle", plan: {}, ours: { stdout: "a\n" }, theirs: { stdout: "(log)\na\n" } },
];

const leaves: readonly Example[] = [
  {
    by: "quit-again",
    rival: "scuttle",
    plan: { env: istioEnv, servers: [agent("503", "quits")] },
    ours: { requests: [quit, `${quit} again`], leavingMs: 2000 },
    theirs: { requests: [quit] },
  },
  { by: "nobody-listens", rival: "scuttle", plan: { env: istioEnv }, ours: { leavingMs: 5000 }, theirs: {} },
  {
    by: "watched",
    rival: "scuttle",
    plan: { env: istioEnv, servers: [agent("takes")] },
    ours: { requests: [quit], leavingMs: 5000 },
    theirs: { requests: [quit] },
  },
  {
    by: "quit-timeout",
    rival: "linkerd-await",
    plan: { servers: [linkerd("hangs")] },
    ours: { requests: [shutdown], leavingMs: 5000 },
    theirs: { requests: [shutdown], code: "still running", leavingMs: 9000 },
  },
  {
    by: "no-time-to-quit",
    rival: "scuttle",
    plan: { env: { ...istioEnv, QUIT_REQUEST_TIMEOUT: "0" }, servers: [agent("quits")] },
    ours: { requests: [quit] },
    theirs: {},
  },
  {
    by: "one-by-one",
    rival: "scuttle",
    plan: {
      env: { ...istioEnv, GENERIC_QUIT_ENDPOINTS: "http://127.0.0.1:8090/a,http://127.0.0.1:8091/b" },
      servers: [{ port: 8090, others: ["hangs"] }, { port: 8091, others: ["quits"], ends: [8091] }, agent("quits")],
    },
    ours: { requests: [quit, "8090 POST /a", "8091 POST /b"], leavingMs: 5000 },
    theirs: { requests: [quit, "8090 POST /a"], leavingMs: 5000 },
  },
  {
    by: "envoy-told",
    rival: "scuttle",
    plan: {
      env: { ENVOY_ADMIN_API: "http://127.0.0.1:9901" },
      servers: [{ port: 9901, others: ["quits"], ends: [9901] }],
    },
    ours: { requests: ["9901 POST /quitquitquit"] },
    theirs: {},
  },
  {
    by: "pkill-first",
    rival: "scuttle-redbox",
    plan: { env: { ENVOY_ADMIN_API: "http://127.0.0.1:15000" }, servers: [agent("quits")], hasAgent: true },
    ours: { requests: [quit] },
    theirs: { agent: [2] },
  },
  {
    by: "fallback",
    rival: "scuttle",
    plan: { env: { ...istioEnv, ISTIO_FALLBACK_PKILL: "true" }, servers: [agent("404")], hasAgent: true },
    ours: { requests: [quit], agent: [2] },
    theirs: { requests: [quit] },
  },
  {
    by: "newer-variables",
    rival: "scuttle-redbox",
    plan: { env: { ...istioEnv, GENERIC_QUIT_ONLY: "true" }, servers: [agent("quits")] },
    theirs: { requests: [quit] },
  },
  {
    by: "loopback",
    rival: "scuttle",
    plan: { env: { ...istioEnv, ENVOY_ADMIN_API: "http://[::1]:15000" }, servers: [agent("quits")] },
    ours: { requests: [quit] },
    theirs: {},
  },
];

const requests: readonly Example[] = [
  {
    by: "request-code",
    rival: "pilot-agent",
    plan: request("500"),
    ours: { ...nothing, code: 1, requests: asked, stdout: "oh" },
    theirs: { ...nothing, code: 255, requests: asked, stdout: "(error)\n" },
  },
  {
    by: "newline",
    rival: "pilot-agent",
    plan: request("json"),
    ours: { ...nothing, requests: asked, stdout: "a" },
    theirs: { ...nothing, requests: asked, stdout: "a\n" },
  },
  {
    by: "debug-port",
    rival: "pilot-agent",
    plan: {
      command: [],
      flags: ["request", "--debug-port=8080", "GET", "/x"],
      servers: [{ port: 8080, others: ["json"] }],
    },
    ours: { ...nothing, requests: ["8080 GET /x"] },
    theirs: { ...nothing, code: 255 },
  },
  {
    by: "not-found-passes",
    rival: "pilot-agent",
    plan: request("404"),
    ours: { ...nothing, code: 1, requests: asked },
    theirs: { ...nothing, requests: asked },
  },
  {
    by: "wait-code",
    rival: "pilot-agent",
    plan: { command: [], flags: ["wait"] },
    ours: { ...nothing, code: 69 },
    theirs: { ...nothing, code: 255 },
  },
];

const examples = [...waits, ...runs, ...leaves, ...requests];

function verdict({ rival, plan }: Example, ours: Outcome, theirs: Outcome) {
  return unexplained(compare(ours, theirs), factsOf({ ...plain, ...plan, rival }, ours, theirs, MARGIN_MS));
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

describe.each(examples.map((example, at) => [`${example.by} of ${example.rival}, ${at}`, example] as const))(
  "%s",
  (_, example) => {
    const ours = outcome(example.ours ?? {});
    const theirs = outcome(example.theirs);

    test("explains what it is for", () => {
      expect(verdict(example, ours, theirs)).toEqual({ left: [], by: [example.by] });
    });

    test("explains nothing where the plan says nothing of it", () => {
      const bare = { ...example, plan: { command: example.plan.command ?? plain.command } };
      if (isOfPlan(example)) expect(verdict(bare, ours, theirs).left).not.toEqual([]);
    });

    const isAll = known.some(
      (each) => each.by === example.by && each.isAll === true && isUsed(each, example, ours, theirs),
    );
    // what cannot differ: a time of a run that has none, what a command was given that was not started
    const comparable = aspects.filter((aspect) => compare(others[aspect](ours), ours).includes(aspect));

    test.each(isAll ? [] : comparable)("does not explain another difference in %s", (aspect) => {
      const changed = others[aspect](ours);
      if (!compare(changed, theirs).includes(aspect)) return;
      expect(verdict(example, changed, theirs).left).toContain(aspect);
    });

    test.each(isAll ? (["code", "requests"] as const) : [])("knows one of both whole: its %s", (aspect) => {
      const changed = [verdict(example, ours, others[aspect](theirs)), verdict(example, others[aspect](ours), theirs)];
      expect(changed.flatMap(({ left }) => left)).not.toEqual([]);
    });
  },
);

function isUsed(each: (typeof known)[number], { rival, plan }: Example, ours: Outcome, theirs: Outcome): boolean {
  return each.rivals.includes(rival) && each.isHere(factsOf({ ...plain, ...plan, rival }, ours, theirs, MARGIN_MS));
}

/** Others are known by what both did alone. */
function isOfPlan({ by }: Example): boolean {
  return !["first-instant", "no-command", "usage-code", "stdout", "wait-timeout", "signal-death"].includes(by);
}

test("each known difference has an example, and is a listed one", () => {
  const named = new Set(examples.map(({ by }) => by));
  expect(known.filter(({ by }) => !named.has(by)).map(({ by }) => by)).toEqual([]);
  const listed = new Set<string>(differences.map(({ id }) => id));
  expect(known.filter(({ by }) => !listed.has(by)).map(({ by }) => by)).toEqual([]);
});

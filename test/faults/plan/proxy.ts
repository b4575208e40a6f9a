import type { Random } from "../../harness/random.ts";
import type { Answer, CommandName, Door, Phase, ProxyPlan } from "./planned.ts";

interface About {
  readonly command: CommandName;
  readonly drains: boolean;
}

interface Planned {
  readonly proxy: ProxyPlan;
  /** The value of --wait-timeout, in ms. */
  readonly waitMs: number;
  /** Whether the proxy becomes ready at all. */
  readonly isReadyEver: boolean;
}

/** The --wait-timeout, in ms, of a wait that is meant to be answered. */
const LONG_MS = 20_000;

const ok: Answer = { kind: "ok", form: "length", delayMs: 0 };
const always = (answer: Answer): readonly Phase[] => [{ fromMs: 0, answers: [answer] }];

/** Plans a proxy with a fault, or with several. */
export function planProxy(random: Random, { command, drains }: About): Planned {
  const readiness = planReadiness(random, command);
  const inFlight = drains ? planInFlight(random) : [];
  const proxy: ProxyPlan = {
    doors: readiness.doors,
    endpoints: {
      ready: readiness.ready,
      fail: always(drains && random.chance(0.25) ? anyAnswer(random) : good(random)),
      drain: always(drains && random.chance(0.25) ? anyAnswer(random) : good(random)),
      stats: drains && random.chance(0.25) ? [{ fromMs: 0, answers: answersInTurn(random) }] : always(good(random)),
      dump: always(drains && random.chance(0.3) ? anyAnswer(random) : good(random)),
      quit: [{ fromMs: 0, answers: planQuit(random) }],
    },
    inFlight,
  };
  return { proxy, waitMs: readiness.waitMs, isReadyEver: readiness.isEver };
}

interface Readiness {
  readonly doors: readonly Door[];
  readonly ready: readonly Phase[];
  readonly waitMs: number;
  readonly isEver: boolean;
}

function planReadiness(random: Random, command: CommandName): Readiness {
  const open: readonly Door[] = [{ fromMs: 0, state: "open" }];
  const atMs = random.int(5, 300);
  const waitMs = random.chance(0.85) ? LONG_MS : random.int(20, 400);
  const theme =
    command === "drain" || command === "quit"
      ? random.weigh([80, "prompt"], [10, "late"], [5, "shut"], [5, "deaf for ever"])
      : random.weigh(...readinessThemes);
  switch (theme) {
    case "prompt":
      return { doors: open, ready: always(good(random)), waitMs, isEver: true };
    case "late":
      return { doors: comingAt(atMs, "closed"), ready: always(good(random)), waitMs, isEver: true };
    case "deaf":
      return { doors: comingAt(atMs, "deaf"), ready: always(good(random)), waitMs, isEver: true };
    case "faulty":
      return { doors: open, ready: until(atMs, answersInTurn(random), [good(random)]), waitMs, isEver: true };
    case "flapping":
      return { doors: open, ready: [{ fromMs: 0, answers: [bad(random), bad(random), ok] }], waitMs, isEver: true };
    case "hanging, then slow": {
      const slow: Answer = { kind: "drip", ms: random.int(60, 150) };
      return { doors: open, ready: until(atMs, [{ kind: "hang" }], [slow]), waitMs: 4500, isEver: true };
    }
    case "dying": {
      const ready: readonly Phase[] = [{ fromMs: 0, answers: [bad(random), bad(random), anyEnd(random)] }];
      return { doors: open, ready, waitMs: random.int(100, 500), isEver: true };
    }
    case "restarting": {
      const doors: readonly Door[] = [
        ...open,
        { fromMs: atMs, state: "closed" },
        { fromMs: atMs + random.int(5, 150), state: "open" },
      ];
      const ready = until(atMs, [bad(random)], [good(random)]);
      return { doors, ready, waitMs, isEver: true };
    }
    case "never":
      return {
        doors: open,
        ready: [{ fromMs: 0, answers: answersInTurn(random) }],
        waitMs: random.int(20, 500),
        isEver: false,
      };
    case "shut":
      return { doors: [{ fromMs: 0, state: "closed" }], ready: always(ok), waitMs: random.int(20, 400), isEver: false };
    case "deaf for ever":
      return { doors: [{ fromMs: 0, state: "deaf" }], ready: always(ok), waitMs: random.int(20, 700), isEver: false };
  }
}

const readinessThemes = [
  [46, "prompt"],
  [12, "late"],
  [4, "deaf"],
  [12, "faulty"],
  [5, "flapping"],
  [2, "hanging, then slow"],
  [4, "dying"],
  [4, "restarting"],
  [6, "never"],
  [3, "shut"],
  [2, "deaf for ever"],
] as const;

function comingAt(atMs: number, before: Door["state"]): readonly Door[] {
  return [
    { fromMs: 0, state: before },
    { fromMs: atMs, state: "open" },
  ];
}

function until(atMs: number, before: readonly Answer[], after: readonly Answer[]): readonly Phase[] {
  return [
    { fromMs: 0, answers: before },
    { fromMs: atMs, answers: after },
  ];
}

function good(random: Random): Answer {
  return random.weigh<Answer>(
    [60, ok],
    [8, { kind: "ok", form: "chunks", delayMs: 0 }],
    [8, { kind: "ok", form: "close", delayMs: 0 }],
    [14, { kind: "ok", form: "length", delayMs: random.int(1, 120) }],
    [10, { kind: "drip", ms: random.int(5, 120) }],
  );
}

function bad(random: Random): Answer {
  return random.weigh<Answer>(
    [30, { kind: "status", status: random.pick([500, 503, 503, 404, 403, 301, 429]) }],
    [10, { kind: "hang" }],
    [10, { kind: "reset" }],
    [10, { kind: "close" }],
    [10, { kind: "half" }],
    [10, { kind: "garbage" }],
    [8, { kind: "endless" }],
  );
}

function anyEnd(random: Random): Answer {
  return random.weigh<Answer>([50, { kind: "die" }], [50, { kind: "ok, then die", delayMs: random.int(0, 30) }]);
}

function anyAnswer(random: Random): Answer {
  return random.chance(0.25) ? anyEnd(random) : bad(random);
}

/** Plans one bad answer that repeats, or up to three in turn. */
function answersInTurn(random: Random): readonly Answer[] {
  return Array.from({ length: random.weigh([60, 1], [25, 2], [15, 3]) }, () => bad(random));
}

/** Plans the answers to quits; the last one repeats. */
function planQuit(random: Random): readonly Answer[] {
  const goes: Answer = { kind: "ok, then die", delayMs: random.weigh([60, 0], [40, random.int(1, 200)]) };
  return random.weigh<readonly Answer[]>(
    [60, [goes]],
    [10, [bad(random), goes]],
    [5, [{ kind: "status", status: 503 }, { kind: "status", status: 500 }, goes]],
    [7, [good(random)]],
    [7, [{ kind: "die" }]],
    [11, [bad(random)]],
  );
}

function planInFlight(random: Random): ProxyPlan["inFlight"] {
  const atMs = random.int(50, 1500);
  const many = random.int(1, 9);
  return random.weigh<ProxyPlan["inFlight"]>(
    [50, [{ fromMs: 0, count: 0 }]],
    [
      35,
      [
        { fromMs: 0, count: many },
        { fromMs: atMs, count: 0 },
      ],
    ],
    [15, [{ fromMs: 0, count: many }]],
  );
}

import type { Random } from "../../../random.ts";
import type { Step } from "../../case.ts";
import type { Plan, ToolPlan } from "./planned.ts";

/** The time after the command's start in which Go's runtime has done all that it does, and linkerd-await listens. */
const SETTLED_MS = 150;

/** The signals that a pod does not send for another purpose. */
const signals: readonly number[] = [1, 2, 3, 10, 12, 14, 15, 28];

/** Plans the command, and what is done to the tool meanwhile. */
export function planApp(random: Random, wait: ToolPlan["wait"]): Pick<Plan, "command" | "steps"> {
  const waiting = planWaiting(random, wait);
  const odd = random.chance(0.04);
  if (odd) return { command: random.pick(odds), steps: waiting };
  const facts = random.chance(0.4) ? ["given"] : [];
  const words = random.chance(0.3) ? planWords(random) : [];
  const orphan = random.chance(0.05) ? ["fork", "60000"] : [];
  const { steps, end } = planEnd(random);
  return { command: ["app", ...facts, ...words, ...orphan, ...end], steps: [...waiting, ...steps] };
}

const odds: readonly (readonly string[])[] = [
  ["/no/such/program"],
  ["no-such-program", "--flag"],
  ["/etc/passwd"],
  ["/"],
  [],
  ["sh", "-c", "exit 5"],
  ["true"],
  ["false"],
];

/** Plans the end of a wait that would never end, and now and then of another one. */
function planWaiting(random: Random, wait: ToolPlan["wait"]): readonly Step[] {
  if (wait === "stuck") {
    const signal = random.weigh([60, 15], [25, 2], [15, 3]);
    return [{ once: { ms: random.int(400, 900) }, act: { signal } }];
  }
  if (wait === "limited" && random.chance(0.15)) return [{ once: { ms: 300 }, act: { signal: 15 } }];
  return [];
}

function planWords(random: Random): readonly string[] {
  return random.pick([
    ["out", "hello"],
    ["err", "oh"],
    ["out", ""],
    ["out", "--"],
    ["out", "a b\nc", "out", "$HOME *"],
    ["out", "ü \u{1f600}"],
    ["out", "x".repeat(70_000)],
    ["environment"],
    ["stdin"],
    ["sleep", "100"],
    ["err", "x".repeat(70_000)],
  ]);
}

/** Plans how the app ends: by itself, by a signal to itself, or by one that it is sent. */
function planEnd(random: Random): { readonly steps: readonly Step[]; readonly end: readonly string[] } {
  const kind = random.weigh([52, "exit"], [14, "die"], [24, "until"], [10, "asleep"]);
  if (kind === "exit")
    return { steps: [], end: ["exit", `${random.pick([0, 0, 0, 1, 2, 7, 64, 69, 126, 128, 143, 255])}`] };
  if (kind === "die") return { steps: [], end: ["die", `${random.pick([1, 2, 6, 8, 9, 11, 13, 15, 31, 34, 64])}`] };
  if (kind === "asleep") return { steps: [send(random.pick([15, 15, 2, 10]))], end: ["sleep", "30000"] };
  const last = random.pick([15, 15, 15, 2, 10]);
  const others = random.some(signals, random.int(0, 2)).filter((signal) => signal !== last);
  if (random.chance(0.05)) others.push(40);
  // each is sent once the one before has come, so that none is merged
  const steps = [...others, last].map((signal, at) =>
    at === 0 ? send(signal) : { once: { signals: at }, act: { signal } },
  );
  return { steps, end: ["until", `${last}`, `${random.pick([0, 0, 3, 143])}`] };
}

function send(signal: number): Step {
  return { once: "started", afterMs: SETTLED_MS, act: { signal } };
}

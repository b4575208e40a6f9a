import type { Outcome } from "../run.ts";
import type { Plan } from "./plan/planned.ts";

/** ebb's own exit codes: a wrong call, a wait that is out of time, a command that cannot be started. */
const EXIT = { usage: 64, unavailable: 69, notExecutable: 126, notFound: 127 } as const;

/**
 * The time after the command's end in which ebb must end. It takes much less: each quit has 5 s, or what the plan says.
 */
const LEAVING_MS = 15_000;

/** Returns a sentence for each promise of ebb's that a run breaks, whatever another tool does. */
export function broken(plan: Plan, outcome: Outcome): readonly string[] {
  const { seen, stderr, leavingMs = 0, left } = outcome;
  const problems: string[] = [];
  const maySleep = isDeaf(plan);
  const expected = codesOf(plan, outcome);
  if (seen.code === "still running") {
    if (!maySleep) problems.push("it hangs");
  } else if (!expected.includes(seen.code)) problems.push(`exit code ${seen.code}, expected ${expected.join(" or ")}`);
  if (/\b(panic|TypeError|ReferenceError|unexpected error)\b/.test(stderr)) problems.push("it has crashed");
  if (leavingMs > LEAVING_MS && seen.code !== "still running")
    problems.push(`it left ${leavingMs} ms after the command`);
  const mayLeave = plan.command.includes("fork") && !plan.isPid1 ? 1 : 0;
  if (!maySleep && left > mayLeave) problems.push(`${left} processes are left running`);
  problems.push(...lostSignals(plan, outcome), ...lostFacts(plan, outcome));
  return problems;
}

/**
 * Reports whether the command may not hear signals: in linkerd-await's place ebb becomes the command, and if that is
 * PID 1 the kernel drops signals without a handler.
 */
function isDeaf({ rival, isPid1, flags, env, command }: Plan): boolean {
  const [word] = command.slice(-2);
  const isDisabled = [env.LINKERD_AWAIT_DISABLED, env.LINKERD_DISABLED].some(Boolean);
  const isReplaced = isDisabled || !flags.some((flag) => flag === "--shutdown" || flag.startsWith("-S"));
  return isPid1 === true && rival === "linkerd-await" && isReplaced && (word === "die" || word === "sleep");
}

/** Returns the exit codes that the plan allows. */
function codesOf({ rival, command, steps }: Plan, { seen: { started, stdout } }: Outcome): readonly number[] {
  if (rival === "pilot-agent") return [0, 1, EXIT.usage, EXIT.unavailable];
  const sent = steps.flatMap(({ act }) => (act === "ready" ? [] : [act.signal]));
  if (started !== "no") return ownCodes(command, sent);
  const early = [EXIT.usage, EXIT.unavailable, ...sent.map((signal) => 128 + signal)];
  if (command[0] === "app") return early;
  // "true", "false" and sh do not say that they were started
  return [...early, EXIT.notExecutable, EXIT.notFound, 0, 1, 5, ...(stdout === "" ? [] : [0])];
}

/** Returns the exit codes of the command itself, by its last words. */
function ownCodes(command: readonly string[], sent: readonly number[]): readonly number[] {
  const [word, value] = command.slice(-2);
  const until = command.at(-3);
  if (until === "until") return [Number(command.at(-1))];
  if (word === "exit") return [Number(value)];
  if (word === "die") return [128 + Number(value)];
  return sent.slice(-1).map((signal) => 128 + signal);
}

/** Judges that a command that notes signals gets each, in the order in which they were sent. */
function lostSignals({ command, steps }: Plan, { seen: { signals, started } }: Outcome): readonly string[] {
  if (command.at(-3) !== "until" || started === "no") return [];
  const sent = steps.flatMap(({ act, once }) => (act === "ready" || isWhileWaiting(once) ? [] : [act.signal]));
  return Bun.deepEquals(sent, signals) ? [] : [`signals ${sent.join(" ")} were sent, ${signals.join(" ")} came`];
}

function isWhileWaiting(once: Plan["steps"][number]["once"]): boolean {
  return typeof once === "object" && "ms" in once;
}

/** Judges that the command gets the words, variables and settings with which the tool was started. */
function lostFacts({ command, launch, env }: Plan, { given }: Outcome): readonly string[] {
  if (given.length === 0) return [];
  const wanted = [
    ...command.slice(1).map((word) => `word ${word}`),
    ...Object.entries(env).map(([name, value]) => `variable ${name}=${value}`),
    ...settings(launch),
  ];
  // reports are read byte by byte
  const bytes = wanted.filter((fact) => !fact.includes("\n")).map((fact) => Buffer.from(fact).toString("latin1"));
  return bytes.filter((fact) => !given.includes(fact)).map((fact) => `the command lacks: ${fact.slice(0, 80)}`);
}

function settings(launch: readonly string[]): readonly string[] {
  const facts: string[] = [];
  for (let at = 0; at + 1 < launch.length; at += 2) {
    const [name, value] = [launch[at], launch[at + 1]];
    if (name === "ignore") facts.push(`ignored ${value}`);
    if (name === "block") facts.push(`blocked ${value}`);
    if (name === "umask") facts.push(`umask ${Number.parseInt(value ?? "", 8).toString(8)}`);
    if (name === "file") facts.push(`file ${value} 20000 100002`);
    if (name === "limit") at += 1;
  }
  return facts;
}

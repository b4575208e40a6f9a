import type { Rival } from "../rivals.ts";
import type { Outcome } from "../run.ts";
import type { AnswerName } from "./answers.ts";
import type { Plan } from "./plan/planned.ts";

/** A line that only one of two runs has. */
export interface Line {
  readonly text: string;
  /** The tool that has it: ebb, or the rival. */
  readonly of: "ebb" | "it";
}

/** A run of both tools, and what may explain how they differ. */
export interface Facts {
  readonly plan: Plan;
  /** What ebb did. */
  readonly ours: Outcome;
  /** What the rival did. */
  readonly theirs: Outcome;
  /** The distance, in ms, up to which times count as the same. */
  readonly marginMs: number;
  /** The time, in ms, that ebb may take after the command's end. */
  readonly limitMs: number;
  /** Reports whether a server has one of these answers to polls, or to other requests. */
  readonly has: (what: "polls" | "others", ...names: readonly AnswerName[]) => boolean;
}

/** Returns the facts of a run. */
export function factsOf(plan: Plan, ours: Outcome, theirs: Outcome, marginMs: number): Facts {
  return {
    plan,
    ours,
    theirs,
    marginMs,
    limitMs: quitTimeoutMs(plan) + marginMs,
    has: (what, ...names) => plan.servers.some((server) => server[what]?.some((name) => names.includes(name)) === true),
  };
}

export const scuttles: readonly Rival[] = ["scuttle", "scuttle-redbox"];
/** The rivals that are written in Go and run a command. */
export const go: readonly Rival[] = [...scuttles, "envoy-preflight"];
/** The rivals that run a command. */
export const wrappers: readonly Rival[] = [...go, "linkerd-await"];
export const pilot: readonly Rival[] = ["pilot-agent"];

/** Reports whether a tool had not ended at its limit. */
export function isHung({ seen }: Outcome): boolean {
  return seen.code === "still running";
}

/** Reports whether a tool waited without end. */
export function wasStuck(outcome: Outcome): boolean {
  return isHung(outcome) && hasDoneNothing(outcome);
}

/** Reports whether a tool gave up waiting. */
export function gaveUp(outcome: Outcome): boolean {
  return [1, 69].includes(Number(outcome.seen.code)) && hasDoneNothing(outcome);
}

function hasDoneNothing({ seen: { started, requests, signals, agent } }: Outcome): boolean {
  const asked = requests.filter((line) => !isRedirected(line));
  return started === "no" && asked.length + signals.length + agent.length === 0;
}

/** Reports whether a request was led there by a redirect of a plan. */
export function isRedirected(line: string): boolean {
  return / GET \/elsewhere( again)?$/.test(line);
}

/** Returns the signal that is sent before the command can be there; undefined if none is. */
export function sentWhileWaiting({ steps }: Plan): number | undefined {
  for (const { act, once } of steps) if (act !== "ready" && typeof once === "object" && "ms" in once) return act.signal;
  return undefined;
}

/** Returns the signals that are sent to the tool while its command runs. */
export function sentLater({ steps }: Plan): readonly number[] {
  return steps.flatMap(({ act, once }) =>
    act === "ready" || (typeof once === "object" && "ms" in once) ? [] : [act.signal],
  );
}

/** Returns the exit code of the plan's command, as a shell reports it; undefined if the plan does not tell it. */
export function ownCode({ command, steps }: Plan): number | undefined {
  const [first, second, value = ""] = command.slice(-3);
  if (first === "until") return Number(value);
  if (second === "exit") return Number(value);
  if (second === "die") return 128 + Number(value);
  const codes: Readonly<Record<string, number>> = { true: 0, false: 1, sh: 5 };
  if (command[0] !== "app") return codes[command[0] ?? ""];
  const [signal] = sentLater({ steps } as Plan).slice(-1);
  return signal === undefined ? undefined : 128 + signal;
}

/** Reports whether a server accepts a quit and goes on listening at that port. */
export function staysOnceTold({ servers }: Plan): boolean {
  return servers.some(
    ({ port, others = [], ends = [] }) =>
      others.some((name) => name.startsWith("takes")) ||
      (others.some((name) => name.startsWith("quits")) && !ends.includes(port)),
  );
}

/** Returns the quits that ebb sends at the end, if it sends any: `PORT POST PATH`. */
export function quitLines({ rival, env, flags }: Plan): readonly string[] {
  if (rival === "linkerd-await") return [`${flags.join(" ").includes("4192") ? 4192 : 4191} POST /shutdown`];
  const { ENVOY_ADMIN_API: admin = "", ENVOY_KILL_API: kill, ISTIO_QUIT_API: agent, GENERIC_QUIT_ENDPOINTS = "" } = env;
  if (rival === "envoy-preflight") return linesOf([kill || `${admin}/quitquitquit`]);
  const generic = GENERIC_QUIT_ENDPOINTS.split(",").map((url) => url.trim());
  if (env.GENERIC_QUIT_ONLY === "true") return linesOf(generic);
  return linesOf([...generic, `${agent || admin.replace(":15000", ":15020")}/quitquitquit`]);
}

function linesOf(urls: readonly string[]): readonly string[] {
  return urls.flatMap((text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    return url === undefined ? [] : [`${url.port} POST ${url.pathname}${url.search}`];
  });
}

/** Reports whether a line is such a quit of ebb's, for the first time or again. */
export function isQuitLine({ text, of }: Line, { plan }: Facts): boolean {
  return of === "ebb" && quitLines(plan).includes(text.replace(/ again$/, ""));
}

/** Reports whether all requests of ebb's are quits. */
export function isQuitting(facts: Facts): boolean {
  return facts.ours.seen.requests.every((text) => isQuitLine({ text, of: "ebb" }, facts));
}

/** Reports whether ebb alone ended pilot-agent, by INT (then TERM and KILL). */
export function hasAlarmedAgent({ plan, ours, theirs }: Facts): boolean {
  return plan.hasAgent === true && theirs.seen.agent.length === 0 && Bun.deepEquals(ours.seen.agent, [2]);
}

/** Reports whether ebb ended later after the command than the rival, by no more than its quits may take. */
export function leavesInTime({ ours, theirs, limitMs }: Facts): boolean {
  return isWithin(Number(ours.leavingMs) - Number(theirs.leavingMs), limitMs);
}

/** Reports the same of a command that says no last word: then quitting is a part of the wait. */
export function quitsInTime({ ours, theirs, limitMs }: Facts): boolean {
  return ours.leavingMs === undefined && isWithin(ours.waitedMs - theirs.waitedMs, limitMs);
}

function isWithin(more: number, mostMs: number): boolean {
  return more > 0 && more <= mostMs;
}

/** Reports whether ebb waited less than the rival, by at most `mostMs` and the margin. */
export function isEarlier({ ours, theirs, marginMs }: Facts, mostMs: number): boolean {
  const less = theirs.waitedMs - ours.waitedMs;
  return less > 0 && less <= mostMs + marginMs;
}

/** Reports whether a URL names a host of this pod, however it is written. */
export function isLocalName(url = ""): boolean {
  return /^https?:\/\/(localhost|127\.|\[::1\])/i.test(url);
}

/** Returns the plan's limit of a quit, by default 5 s. */
export function quitTimeoutMs({ env }: Plan): number {
  const given: Readonly<Record<string, number>> = { "3s": 3000, "4000ms": 4000, "6s": 6000 };
  return given[env.QUIT_REQUEST_TIMEOUT ?? ""] ?? 5000;
}

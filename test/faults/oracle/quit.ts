import { endsCommand } from "../../../src/shared/core/signal.ts";
import { type Case, SLACK_MS } from "../case.ts";
import type { Request } from "../proxy.ts";

/**
 * Judges the quits: they are sent if they are due, after the child's end, by POST, and not again if one was answered.
 */
export function judgeQuits(one: Case): void {
  const { seen, broken } = one;
  const quits = seen.requests.filter(({ endpoint }) => endpoint === "quit");
  const due = quitIsDue(one);
  // `ebb quit` and `ebb drain` end by a stop signal, whatever they are at
  const isStopped = one.plan.command !== "run" && seen.sent.some(({ signal }) => 128 + signal === seen.code);
  for (const { method, path } of quits) if (method !== "POST") broken("always", `a quit by ${method} ${path}`);
  if (!due && quits.length > 0) broken("always", `${quits.length} quits were sent, but none was to be`);
  if (due && !isStopped) judgeMissed(one, quits);
  for (const [index, quit] of quits.entries()) {
    const next = quits[index + 1];
    if (next !== undefined && isFinal(quit)) broken("always", `a quit was sent again after "${quit.answer.kind}"`);
  }
  const last = one.app?.facts.at(-1);
  const [first] = quits;
  if (one.plan.command === "run" && last !== undefined && first !== undefined && first.at < last.at) {
    broken("always", `a quit came ${Math.round(last.at - first.at)} ms before the app's end`);
  }
}

/** Reports whether a quit is due after this exit code (--quit-on, --restart-policy); a native sidecar is never quit. */
function quitIsDue({ plan: { command, flags, isNative }, seen }: Case): boolean {
  const { code } = seen;
  if (isNative) return false;
  if (command === "wait") return false;
  if (command === "quit") return true;
  if (command === "drain") return flags.thenQuit;
  if (flags.quitOn === "never" || (flags.quitOn === "success" && code !== 0)) return false;
  if (flags.restartPolicy === "Always") return false;
  return !(flags.restartPolicy === "OnFailure" && code !== 0);
}

/** Judges that a quit was sent, if somebody listened all the time since it was due. */
function judgeMissed({ plan, seen, app, broken }: Case, quits: readonly Request[]): void {
  if (quits.length > 0) return;
  const from = app?.facts.at(-1)?.at ?? seen.startedAt;
  const lastDoor = seen.doors.at(-1);
  const isOpen = lastDoor?.state === "open" && lastDoor.at < from;
  if (!isOpen) return;
  const tookMs = seen.endedAt - from;
  const isEarly = tookMs < 0.8 * plan.flags.quitMs && seen.stalledMs === 0;
  broken(isEarly ? "always" : "time", `no quit was sent, ${Math.round(tookMs)} ms from when it was due to ebb's end`);
}

/** Reports whether a quit must not be repeated: its answer is whole and below 500, or may still come. */
function isFinal({ answer, wholeAt }: Request): boolean {
  switch (answer.kind) {
    case "status":
      return answer.status < 500;
    case "ok":
    case "drip":
    case "ok, then die":
      return wholeAt !== undefined;
    case "hang":
      return true;
    default:
      return false;
  }
}

/**
 * Judges `ebb quit`: its exit code is 0 only if the sidecar took the quit and is gone, or will end by itself; or if nobody
 * has listened in the last second.
 */
export function judgeQuit(one: Case): void {
  const { plan, seen, broken, log } = one;
  const { code, endedAt, startedAt } = seen;
  const slackMs = SLACK_MS + 2 * seen.stalledMs;
  const stopsSent = new Set(seen.sent.filter(({ signal }) => endsCommand(signal)).map(({ signal }) => 128 + signal));
  if (code !== 0 && code !== 69 && !stopsSent.has(code as number)) broken("always", `exit code ${code}`);
  if (endedAt - startedAt > plan.flags.quitMs + slackMs)
    broken("time", `it took ${Math.round(endedAt - startedAt)} ms`);
  const saysGone = log.some(({ msg, outcome }) => msg === "ebb: asked the sidecar to exit" && outcome === "exited");
  const saysAbsent = log.some(({ msg }) => msg === "ebb: the sidecar is gone, or was never here");
  if (saysAbsent && hasListened(one, endedAt - 900, endedAt - 100))
    broken("time", "it says that the sidecar is not here, but the proxy listened in the last second");
  const isOpen = seen.doors.every(({ state }) => state === "open") && seen.doors.length === 1;
  if (saysGone && isOpen) broken("always", "it says gone, but the proxy still listens");
  const leaves = plan.sidecar === "linkerd" || plan.sidecar === "custom" || plan.sidecar === "istio";
  if (code === 0 && isOpen && !leaves) broken("always", "exit code 0, but the proxy still listens");
  const quits = seen.requests.filter(({ endpoint }) => endpoint === "quit");
  const took = quits.findLast(({ answer, wholeAt }) => answer.kind.startsWith("ok") && wholeAt !== undefined);
  const diedOfIt = quits.some(({ answer }) => answer.kind === "die");
  if (code === 0 && took === undefined && !diedOfIt && !plan.isNative && !saysAbsent)
    broken("always", "exit code 0, but no quit was answered well");
}

/** Reports whether the proxy listened at any time between the two. */
function hasListened({ seen: { doors } }: Case, from: number, to: number): boolean {
  return doors.some(({ at, state }, index) => {
    const until = doors[index + 1]?.at ?? Number.POSITIVE_INFINITY;
    return state !== "closed" && at < to && until > from;
  });
}

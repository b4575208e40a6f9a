import type { Case } from "../case.ts";
import type { Answer } from "../plan/planned.ts";
import type { Request } from "../proxy.ts";
import type { Fact } from "./witness.ts";

/**
 * The time, in ms, in which ebb must notice that the proxy is ready. The promise is 10 ms, but a hang is looked for.
 */
const NOTICE_MS = 2000;

/** Says why the command may start at that time, or at the end if `start` is undefined; undefined if it may not. */
export function justification({ plan, seen }: Case, start: Fact | undefined): string | undefined {
  const { flags } = plan;
  const at = start?.at ?? seen.endedAt;
  if (plan.command === "run" && flags.noWait) return "it need not wait";
  const ready = seen.requests.find((request) => saysReady(request) && request.at <= at);
  if (ready !== undefined) return "ready";
  const isTime = flags.onWaitTimeout === "start" && at - seen.startedAt >= flags.waitMs - 2;
  return isTime ? "out of time" : undefined;
}

/** Returns the time before which the command cannot have been started. */
export function readyAt({ plan, seen }: Pick<Case, "plan" | "seen">): number {
  const { flags, command } = plan;
  if (command === "run" && flags.noWait) return seen.startedAt;
  const answered = seen.requests.find(saysReady)?.at ?? Number.POSITIVE_INFINITY;
  return flags.onWaitTimeout === "start" ? Math.min(answered, seen.startedAt + flags.waitMs) : answered;
}

/** Reports whether a probe was answered with 2xx, of which at least something was written. */
function saysReady({ endpoint, answer }: Request): boolean {
  return endpoint === "ready" && isGood(answer);
}

/** Reports whether an answer is a 2xx. */
export function isGood({ kind }: Answer): boolean {
  return kind === "ok" || kind === "drip" || kind === "ok, then die";
}

/**
 * Judges a wait that gave up: the proxy must not have said in time that it was ready, nor have been ready all the time.
 */
export function missedReadiness({ seen, plan, broken }: Case): void {
  const slackMs = NOTICE_MS + seen.stalledMs;
  const told = seen.requests.find(
    (one) => saysReady(one) && one.answer.kind !== "drip" && one.wholeAt !== undefined && one.closedAt === undefined,
  );
  if (told?.wholeAt !== undefined && seen.endedAt - told.wholeAt > slackMs) {
    broken("time", `ready was answered ${Math.round(seen.endedAt - told.wholeAt)} ms before ebb gave up`);
  }
  const since = plan.proxy.endpoints.ready.find(({ answers }) => answers.every(isGood));
  const isOpen = seen.doors.at(-1)?.state === "open";
  const openSince = Math.max(seen.doors.at(-1)?.at ?? 0, seen.startedAt + (since?.fromMs ?? 0));
  const waitedMs = seen.startedAt + plan.flags.waitMs - openSince;
  if (since !== undefined && isOpen && waitedMs > slackMs) {
    broken("time", `it gave up after the proxy had been ready for ${Math.round(waitedMs)} ms`);
  }
}

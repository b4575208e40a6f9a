import { oneLine } from "../../../shared/core/text.ts";
import type { Answer, EndRequest, Outcome, Tried } from "./attempt.ts";
import { describeMethod } from "./methods.ts";
import { isStuck, type Verdict } from "./verdict.ts";

/** What became of a pod, for people: a word, and a sentence that says why. */
export interface Report {
  readonly result:
    | "gave up"
    | "no permission"
    | "put off"
    | "ended"
    | "would end"
    | "stopped"
    | "later"
    | "gone"
    | "not selected"
    | "left alone";
  readonly why: string;
}

/** Describes the outcome of an attempt, for the table, the log and Events. */
export function reportOf(outcome: Outcome): Report {
  switch (outcome.kind) {
    case "ended":
      return { result: "ended", why: [...new Set(outcome.requests.map(describeRequest))].join("; ") };
    case "gone":
      return { result: "gone", why: "the pod was deleted, or another pod has its name now" };
    case "left":
      return { result: "left alone", why: outcome.reason };
    case "gave-up":
      return { result: "gave up", why: [outcome.reason, ...triedOnce(outcome.tried)].join("; ") };
    case "put-off":
      return { result: "put off", why: outcome.reason };
  }
}

/** What became of a pod whose sidecars had not ended when a signal stopped ebb. */
export const stopped: Report = { result: "stopped", why: "a signal stopped ebb before its sidecars had ended" };

/** Describes a pod that is not selected. `choice` says why it is not; `would` is its verdict if it were. */
export function reportOfUnselected(choice: string, would: Verdict): Report & { readonly isStuck: boolean } {
  const stuck = isStuck(would);
  return { result: "not selected", why: stuck ? `stuck: ${would.reason}; ${choice}` : choice, isStuck: stuck };
}

/**
 * Describes what becomes of a pod by its verdict, for --dry-run and for pods that are left. Of each sidecar only the
 * first method is named.
 */
export function reportOfVerdict(verdict: Verdict): Report {
  const { reason } = verdict;
  if (verdict.kind === "leave")
    return { result: verdict.rule === "no-right" ? "no permission" : "left alone", why: reason };
  if (verdict.kind === "later") return { result: "later", why: reason };
  const first = verdict.containers.flatMap(({ methods }) => methods.slice(0, 1).map(describeMethod));
  return { result: "would end", why: `${reason}: ${first.join("; ")}` };
}

function describeRequest({ container, method }: EndRequest): string {
  return `${container}, by ${describeMethod(method)}`;
}

/** Lists each method once, with the sidecar's last answer; with why it was not asked, if it never was. */
function triedOnce(tried: readonly Tried[]): readonly string[] {
  const whys = new Map<string, string>();
  for (const { why, refusal, ...request } of tried) {
    const method = describeRequest(request);
    if (refusal !== "unasked" || !whys.has(method)) whys.set(method, why);
  }
  return [...whys].map(([method, why]) => `${method}: ${why}`);
}

/** The types of the reaper's Events by their reasons. Programs read both, so they never change. */
export const eventTypes = {
  SidecarAsked: "Normal",
  SidecarsEnded: "Normal",
  SidecarDidNotExit: "Warning",
  NotReaped: "Warning",
} as const;

type EventReason = keyof typeof eventTypes;

/** An Event on the pod, or on its namespace (events.k8s.io/v1). `note` has at most 1,024 bytes. */
export interface PodEvent {
  readonly type: (typeof eventTypes)[EventReason];
  readonly reason: EventReason;
  readonly note: string;
}

/**
 * Returns the Event that a sidecar was asked to quit; undefined if it refused, or was not asked. `reason`: why it was
 * asked.
 */
export function eventOfAnswer({ container, method }: EndRequest, reason: string, answer: Answer): PodEvent | undefined {
  if (answer.kind === "refused" || answer.kind === "unavailable") return undefined;
  const end = answer.kind === "unanswered" ? `; ${answer.why}` : "";
  return eventOf("SidecarAsked", `asked ${container} to exit: ${reason}; by ${describeMethod(method)}${end}`);
}

/** Returns the Event for the end of an attempt; undefined if the sidecars neither ended nor were given up. */
export function eventOfOutcome(outcome: Outcome): PodEvent | undefined {
  const { why } = reportOf(outcome);
  if (outcome.kind === "ended") return eventOf("SidecarsEnded", `ended: ${why}`);
  return outcome.kind === "gave-up" ? eventOf("SidecarDidNotExit", why) : undefined;
}

/** Returns the Event for a mistake that only the author of the pod or namespace can mend. */
export function eventOfUserError(reason: string): PodEvent {
  return eventOf("NotReaped", reason);
}

function eventOf(reason: EventReason, text: string): PodEvent {
  return { type: eventTypes[reason], reason, note: noteOf(text) };
}

/** The most bytes of a note (kubernetes pkg/apis/core/validation/events.go, NoteLengthLimit). */
const LONGEST_NOTE = 1024;

function noteOf(text: string): string {
  const line = oneLine(text);
  const bytes = new TextEncoder().encode(line);
  if (bytes.length <= LONGEST_NOTE) return line;
  const cut = new TextDecoder().decode(bytes.subarray(0, LONGEST_NOTE - 6), { stream: true }); // a part of a character is left out
  return `${cut}...`;
}

import { readLine, type Timeline, timelineOf } from "../../../../../src/cluster/timeline/core/timeline.ts";
import type { milestones } from "../../../../../src/shared/core/log-messages.ts";

/** 2026-01-01T00:00:00Z, from which the tests count seconds. */
export const START = 1_767_225_600_000;

/** Returns a line of ebb's log, `seconds` after `START`. */
export function lineAt(
  seconds: number,
  message: keyof typeof milestones,
  fields: Readonly<Record<string, unknown>> = {},
): string {
  const time = new Date(START + seconds * 1000).toISOString();
  return JSON.stringify({ level: "info", severity: "INFO", time, msg: `ebb: ${message}`, ...fields });
}

/** Returns what kubectl logs --prefix makes of the lines of a pod's container. */
export function prefixed(pod: string, lines: readonly string[], container = "app"): readonly string[] {
  return lines.map((line) => `[pod/${pod}/${container}] ${line}`);
}

/** A whole life: waits 2 s, runs 8 s, drains 5 s, stops 1 s, and asks the sidecar to exit for 0.5 s. */
export function lifeFrom(start: number, exitCode = 0): readonly string[] {
  return [
    lineAt(start + 1, "waiting until ready", { sidecar: "istio", waitedMs: 1000 }),
    lineAt(start + 2, "ready", { waitedMs: 2000 }),
    lineAt(start + 2, "started the command", { pid: 7, command: "/app" }),
    lineAt(start + 10, "received a stop signal: draining", { signal: "SIGTERM", atMostMs: 20_000 }),
    lineAt(start + 11, "in flight", { sidecar: "istio", requests: 3, connections: 1 }),
    lineAt(start + 13, "in flight", { sidecar: "istio", requests: 1, connections: 0 }),
    lineAt(start + 14, "in flight", { sidecar: "istio", requests: 0, connections: 0 }),
    lineAt(start + 15, "drain ended", { sidecar: "istio", outcome: "drained", tookMs: 5000 }),
    lineAt(start + 16.5, "asked the sidecar to exit", { sidecar: "istio", outcome: "exited", tookMs: 500 }),
    lineAt(start + 16.5, "done", { waitedMs: 2000, ranMs: 14_000, drainedMs: 5000, quitMs: 500, exitCode }),
  ];
}

/** Draws lines, as those of a source named `stdin`. */
export function timelineIn(lines: readonly string[]): Timeline {
  return timelineOf(lines.flatMap((line) => readLine(line, "stdin") ?? []));
}

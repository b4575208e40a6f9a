import { oneLine } from "../../core/base/text.ts";
import { counted } from "../../core/base/wording.ts";
import { type Component, describeComponent } from "../../core/doctor/components.ts";
import type { Finding } from "../../core/doctor/finding.ts";

/** What `ebb doctor --json` prints. */
export interface Report {
  /** What is installed; undefined: it may not be read. */
  readonly components: readonly Component[] | undefined;
  readonly findings: readonly Finding[];
  /** How many were looked at, and how many of these have ebb. */
  readonly pods: number;
  readonly injected: number;
  readonly refusals: readonly string[];
}

const MOST_LINES = 100;

/** Formats the report of `ebb doctor`: what is installed, the findings, the counts, what could not be read. */
export function textOfReport({ components, findings, pods, injected, refusals }: Report): string {
  const missing = ["webhook", "reaper"].filter((name) => !components?.some(({ component }) => component === name));
  const installed = [...(components ?? []).map(describeComponent), ...missing.map((name) => `${name}: not installed`)];
  const told = findings.slice(0, MOST_LINES).map(({ object, message }) => `${object}: ${message}`);
  const rest = findings.length - told.length;
  const lines = [...(components === undefined ? [] : installed), ...told];
  if (rest > 0) lines.push(`and ${rest} more: --json lists all`);
  lines.push(...refusals.map((refusal) => `not looked at: ${refusal}`));
  lines.push(`${counted(pods, "pod")}, ${injected} with ebb: ${counted(findings.length, "finding")}`);
  return lines.map((line) => `${oneLine(line)}\n`).join("");
}

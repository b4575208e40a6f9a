import { oneLine } from "../../core/base/text.ts";
import { counted } from "../../core/base/wording.ts";
import { type Component, describeComponent } from "../../core/doctor/components.ts";
import type { Finding } from "../../core/doctor/finding.ts";

/** What `ebb doctor --json` prints. */
export interface Report {
  /** What is installed; undefined if it may not be read. */
  readonly components: readonly Component[] | undefined;
  readonly findings: readonly Finding[];
  /** How many pods run. */
  readonly pods: number;
  /** How many of them have ebb. */
  readonly injected: number;
  /** What could not be read: the API server's refusals. */
  readonly refusals: readonly string[];
}

/** The most findings in a text. */
const MOST_LINES = 100;

/**
 * Formats the report of `ebb doctor` as text: what is installed, the first 100 findings (`MOST_LINES`), what could not
 * be read, the counts.
 */
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

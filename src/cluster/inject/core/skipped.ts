import { parseObject, textOf } from "../../../shared/core/json.ts";
import { shortened } from "../../../shared/core/text.ts";

const LONGEST = 1000;

/**
 * Formats the value of ebb.dev/status for a pod that was selected for ebb, and that the webhook left as it is:
 * `{"skipped": WHY}`.
 */
export function formatSkipped(reason: string): string {
  return JSON.stringify({ skipped: shortened(reason, LONGEST) });
}

/** Returns why the webhook left a pod as it is, by its ebb.dev/status; undefined if that says something else. */
export function skippedIn(status: unknown): string | undefined {
  return textOf(parseObject(textOf(status) ?? "")?.skipped);
}

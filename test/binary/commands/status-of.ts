import { expect } from "bun:test";
import type { Snapshot } from "../../../src/pod/status/core/snapshot.ts";
import { ebb, type StartOptions } from "../../harness/ebb.ts";

/** The flags for a pod without a sidecar. */
export const none = ["--sidecar", "none"];

/** Returns what `ebb status --json` prints. Fails if it fails, or writes to stderr. */
export async function statusOf(flags: readonly string[], options: StartOptions = {}): Promise<Snapshot> {
  const { code, stdout, stderr } = await ebb(["status", "--json", ...flags], options);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as Snapshot;
}

import { baseName } from "../../shared/core/text.ts";
import { announce } from "../announce/announce.ts";
import { readNetwork } from "../find/network.ts";
import type { Run } from "./run.ts";

/**
 * Tells the pod's other containers that the command runs: `ebb hold` keeps their proxy until it has ended. On a network
 * that may be shared, other pods would hear it, too.
 */
export async function announceRun(run: Run): Promise<void> {
  const { settings, env, command, log } = run;
  if (run.ownership !== "owner" || settings.noHold || (await readNetwork(settings, env)) !== "own") return;
  const problem = announce("runs", baseName(command.words[0] ?? ""));
  run.isAnnounced = problem === undefined;
  if (problem !== undefined) log.warn({ reason: problem }, "cannot tell ebb hold of this run: no proxy is held for it");
}

/** Tells them that the drain is over: inbound traffic may be refused from now on. */
export function announceDrained({ isAnnounced }: Run): void {
  if (isAnnounced === true) announce("drained");
}

import { describeAddress } from "../base/wording.ts";
import { describeInFlight } from "./findings.ts";
import type { Snapshot } from "./snapshot.ts";

/** What is worth a line if it changes: subject -> state, such as `envoy ready` -> `no`. A finding's state is empty. */
export type Facts = ReadonlyMap<string, string>;

/** Picks from a snapshot the facts for which `ebb status --watch` prints a line if they change. */
export function factsOf({ sidecars, sockets, processes, findings }: Snapshot): Facts {
  const facts = new Map<string, string>();
  for (const { name, ready, envoy } of sidecars) {
    facts.set(`${name} ready`, ready ? "yes" : "no");
    if (envoy === null) continue;
    facts.set(`${name} state`, envoy.state ?? "unknown");
    facts.set(`${name} in flight`, describeInFlight(envoy));
    facts.set(`${name} closed by draining`, `${envoy.drained ?? "unknown"}`);
  }
  for (const socket of sockets?.listening ?? []) {
    facts.set(`listening on ${describeAddress(socket)}`, socket.process ?? "yes");
  }
  if (processes?.child) facts.set("command", `${processes.child.name} ${processes.child.state}`);
  for (const { kind, message } of findings) if (!toldElsewhere.includes(kind)) facts.set(message, "");
  return facts;
}

/** Findings that are left out: facts of their own have their numbers. */
const toldElsewhere = ["draining", "drained"];

/** Returns a line for each fact that is new, changed or gone: `A: no`, `A: no -> yes` or `no longer: A`. */
export function changeLines(before: Facts, after: Facts): readonly string[] {
  const lines: string[] = [];
  for (const [about, fact] of after) {
    const old = before.get(about);
    if (old === undefined) lines.push(fact === "" ? about : `${about}: ${fact}`);
    else if (old !== fact) lines.push(`${about}: ${old} -> ${fact}`);
  }
  for (const about of before.keys()) if (!after.has(about)) lines.push(`no longer: ${about}`);
  return lines;
}

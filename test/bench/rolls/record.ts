import { appendFileSync } from "node:fs";
import type { Loss } from "../../cluster/programs/clients.ts";
import { readRecords } from "../record.ts";

/** A change under load, a line of the file. */
export interface Roll {
  /** The first digits of the SHA-256 of the executable. */
  readonly ebb: string;
  /** When it began, as in ISO 8601. */
  readonly at: string;
  /** The kind of sidecar: `native Istio`. */
  readonly sidecar: string;
  /** The way in which the pods went: `restart`. */
  readonly way: string;
  readonly seconds: number;
  /** The number of requests, by kind of client. */
  readonly sent: Readonly<Record<string, number>>;
}

/** A request that was lost in a roll, a line of the file. */
export interface LostRequest extends Loss, Pick<Roll, "ebb" | "sidecar" | "way"> {
  /** The start of its roll: the file FILE-ROLL.log has what the pods that went have written. */
  readonly roll: string;
  /** The seconds since the deletion of each pod that went in its roll, by its name; negative before it. */
  readonly sinceDeletion: Readonly<Record<string, number>>;
}

/** Adds a roll and what it lost to the file, all at once. */
export function addRoll(file: string, roll: Roll, lost: readonly LostRequest[]): void {
  appendFileSync(file, [roll, ...lost].map((line) => `${JSON.stringify(line)}\n`).join(""));
}

/** Reads the rolls of an executable, and what they lost. */
export function readRolls(file: string, ebb: string): { readonly rolls: Roll[]; readonly lost: LostRequest[] } {
  const own = readRecords<Roll | LostRequest>(file, ebb);
  return { rolls: own.filter((line) => "sent" in line), lost: own.filter((line) => "roll" in line) };
}

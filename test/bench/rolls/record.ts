import { appendFileSync } from "node:fs";
import type { LostCalls } from "../../cluster/programs/careful.ts";
import type { Loss } from "../../cluster/programs/mix.ts";
import type { Roll as Which } from "../../cluster/rolls/ways.ts";
import { readRecords } from "../record.ts";

/** Pods of an app that went under load, a line of the file. */
export interface Roll extends Which {
  /** The first digits of the SHA-256 of the executable. */
  readonly ebb: string;
  /** When it began, as in ISO 8601. */
  readonly at: string;
  /** The name of the way (test/cluster/rolls/ways.ts). */
  readonly way: string;
  /** How the pods went: `restart`. */
  readonly going: string;
  /** The number of requests, by kind of client. */
  readonly sent: Readonly<Record<string, number>>;
  /** The number of the apps' calls before their SIGTERM, and after it. */
  readonly before: number;
  readonly after: number;
  readonly lostOut: readonly LostCalls[];
  /** The time of each pod from its app's end until it was gone, in ms. */
  readonly goneMs: readonly number[];
}

/** A client's request that was lost in a roll, a line of the file. */
export interface LostRequest extends Loss, Which, Pick<Roll, "ebb" | "way" | "going"> {
  /** The start of its roll: the file FILE-ROLL.log has what the pods that went have written. */
  readonly roll: string;
  /** The seconds since the deletion of each pod that went in its roll, by its name; negative before it. */
  readonly sinceDeletion: Readonly<Record<string, number>>;
}

/** Adds a roll and what it lost to the file, all at once. */
export function addRoll(file: string, roll: Roll, lost: readonly LostRequest[]): void {
  appendFileSync(file, [roll, ...lost].map((line) => `${JSON.stringify(line)}\n`).join(""));
}

/** Reads the rolls of an executable, and the requests that they lost. */
export function readRolls(file: string, ebb: string): { readonly rolls: Roll[]; readonly lost: LostRequest[] } {
  const own = readRecords<Roll | LostRequest>(file, ebb);
  return { rolls: own.filter((line) => "sent" in line), lost: own.filter((line) => "roll" in line) };
}

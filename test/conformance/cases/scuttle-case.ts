import type { Case } from "../case.ts";
import { caseOf, scuttle } from "../wrappers.ts";

/** A case of scuttle's, with its usual variables unless it says otherwise. */
export function one(name: string, changed: Omit<Parameters<typeof caseOf>[1], "name">): Case {
  return caseOf(scuttle, { name, ...changed });
}

export const quit = "15020 POST /quitquitquit";
/** What is seen where nothing special happens. */
export const plain = { code: 0, started: "when ready", polls: [scuttle.poll], requests: [quit] } as const;
/** Of a wrong value or command line. */
export const refused = { code: 64, started: "no", polls: [], requests: [] } as const;
/** Nothing is waited for, and nothing quit. */
export const nothing = { started: "unready", polls: [], requests: [] } as const;

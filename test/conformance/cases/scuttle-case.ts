import type { Case } from "../case.ts";
import { caseOf, scuttle } from "../wrappers.ts";

/** Returns a case of scuttle's, with its usual variables unless it says otherwise. */
export function one(name: string, changed: Omit<Parameters<typeof caseOf>[1], "name">): Case {
  return caseOf(scuttle, { name, ...changed });
}

/** The quit, as the requests show it. */
export const quit = "15020 POST /quitquitquit";
/** What is seen if nothing special happens. */
export const plain = { code: 0, started: "when ready", polls: [scuttle.poll], requests: [quit] } as const;
/** What is seen of a wrong value or command line. */
export const refused = { code: 64, started: "no", polls: [], requests: [] } as const;
/** What is seen if nothing is waited for, and nothing quit. */
export const nothing = { started: "unready", polls: [], requests: [] } as const;

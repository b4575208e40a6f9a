import { forwarded, suspends } from "../../../src/shared/core/signal.ts";
import { childPath } from "../../harness/compiled.ts";

// For the sweep of every signal through every phase of a run: none is lost, none comes twice, and none ends ebb itself.

export const child = childPath();

/** The signals that can be pending together: a CONT does not discard them, nor do they discard a CONT (signal(7)). */
export const together = forwarded.filter((signal) => !suspends(signal));

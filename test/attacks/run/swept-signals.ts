import { forwarded, suspends } from "../../../src/core/run/signal.ts";
import { childPath } from "../../compiled.ts";

// Every signal, at every phase of a run: none is lost, none comes twice, and none ends ebb itself.

export const child = childPath();

/** Those that a CONT does not take away, and that take none away, while they wait (signal(7)). */
export const together = forwarded.filter((signal) => !suspends(signal));

import type { DifferenceId } from "../../differences.ts";
import type { Rival } from "../../rivals.ts";
import type { Aspect } from "../compare.ts";
import type { Facts } from "../facts.ts";
import type { Line } from "../line.ts";

/**
 * A difference on purpose: in which cases it shows (what was done, and what came of it), and exactly how. Another aspect, or the same
 * one with another shape, is not explained by it.
 */
export interface Known {
  readonly by: DifferenceId;
  readonly rivals: readonly Rival[];
  readonly isHere: (facts: Facts) => boolean;
  /** The aspects in which it shows, and how they differ then. */
  readonly shows?: Partial<Readonly<Record<Aspect, (facts: Facts) => boolean>>>;
  /** The same for aspects that are lines: each that one of them lacks is to be explained. */
  readonly lines?: Partial<Readonly<Record<Aspect, (line: Line, facts: Facts) => boolean>>>;
  /** The runs have nothing in common, so nothing of them is compared: `isHere` knows one of them whole. */
  readonly isAll?: true;
}

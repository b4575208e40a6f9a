import type { DifferenceId } from "../../differences.ts";
import type { Rival } from "../../rivals.ts";
import type { Aspect } from "../compare.ts";
import type { Facts, Line } from "../facts.ts";

/**
 * A listed difference: in which cases it shows (by what was done, and what came of it), and exactly how. It does not
 * explain another aspect, or the same aspect with another shape.
 */
export interface Known {
  readonly by: DifferenceId;
  readonly rivals: readonly Rival[];
  readonly isHere: (facts: Facts) => boolean;
  /** For each aspect in which it shows, a function that reports whether the runs differ as expected. */
  readonly shows?: Partial<Readonly<Record<Aspect, (facts: Facts) => boolean>>>;
  /** For aspects that are lines, a function that reports whether it explains a line that only one of the runs has. */
  readonly lines?: Partial<Readonly<Record<Aspect, (line: Line, facts: Facts) => boolean>>>;
  /**
   * Whether it explains all aspects, because the runs have nothing in common; `isHere` then knows one of them whole.
   */
  readonly isAll?: true;
}

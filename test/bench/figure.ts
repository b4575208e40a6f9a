import type { Candidate } from "./candidates.ts";
import type { Table } from "./table.ts";

/** What is measured, and with whom. */
export interface Setup {
  readonly rivals: readonly Candidate[];
  readonly isQuick: boolean;
}

/** One of the bench's questions. */
export interface Figure {
  /** As it is given on the command line. */
  readonly name: string;
  run(setup: Setup): Promise<readonly Table[]>;
}

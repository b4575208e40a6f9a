import type { Candidate } from "./candidates.ts";
import type { Table } from "./table.ts";

/** The arguments of the bench. */
export interface Setup {
  readonly rivals: readonly Candidate[];
  /** Whether it is to measure less often. */
  readonly isQuick: boolean;
  /** For how long a figure that counts goes on, by default some minutes, and the file in which it counts. */
  readonly forMs?: number;
  readonly file?: string;
}

/** One of the bench's questions, which it answers with tables. */
export interface Figure {
  /** Its name on the command line. */
  readonly name: string;
  run(setup: Setup): Promise<readonly Table[]>;
}

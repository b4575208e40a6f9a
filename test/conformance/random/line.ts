/** A line that only one of two runs has. */
export interface Line {
  readonly text: string;
  /** The tool that has it: ebb, or the rival. */
  readonly of: "ebb" | "it";
}

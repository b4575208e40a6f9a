/** A line that one of them has and the other has not. */
export interface Line {
  readonly text: string;
  readonly of: "ebb" | "it";
}

/** Something in a cluster that is not as somebody wanted it, and what to do. */
export interface Finding {
  readonly object: string;
  readonly message: string;
}

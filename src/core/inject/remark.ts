/** A problem with, or a warning about, one field of a pod. */
export interface Remark {
  /** `spec.containers[0].command`, `metadata.annotations[ebb.dev/drain]`. */
  readonly field: string;
  readonly message: string;
}

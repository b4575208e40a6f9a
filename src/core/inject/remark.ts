/** Something to say of a field of the pod: `spec.containers[0].command`, `metadata.annotations[ebb.dev/drain]`. */
export interface Remark {
  readonly field: string;
  readonly message: string;
}

/** An attempt that brought no answer: `refused`, nobody listens there; `broken`, anything else. */
export class RequestFailed extends Error {
  readonly kind: "refused" | "broken";

  constructor(kind: "refused" | "broken", reason: string) {
    super(reason);
    this.kind = kind;
  }
}

/** An attempt that brought no answer: `refused`, nobody listens there; `late`, time was up; `broken`, anything else. */
export class RequestFailed extends Error {
  readonly kind: "refused" | "late" | "broken";

  constructor(kind: "refused" | "late" | "broken", reason: string) {
    super(reason);
    this.kind = kind;
  }
}

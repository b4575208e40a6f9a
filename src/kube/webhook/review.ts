import type { Policy } from "../../core/patch.ts";
import { admit, type Decision } from "./admission.ts";
import { type AdmissionRequest, readReview, writeReview } from "./admission-review.ts";

export interface Review {
  readonly request: AdmissionRequest;
  readonly decision: Decision;
  /** What is answered. */
  readonly body: string;
}

/** An AdmissionReview to its answer, or what is wrong with it. Nothing else is read or written: a dry run is like any other. */
export function review(body: Uint8Array, policy: Policy): Review | { readonly problem: string } {
  const read = readReview(body);
  if ("problem" in read) return read;
  const { request } = read;
  const decision = admit(request, policy);
  return { request, decision, body: writeReview(request.uid, decision.response) };
}

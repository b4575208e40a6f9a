import type { InjectPolicy } from "../../core/inject/policy.ts";
import { type Decision, decideAdmission } from "./admission.ts";
import { type AdmissionRequest, readReview, type Written, writeReview } from "./admission-review.ts";

/** A request, the decision about it, and the answer as it is sent. */
export interface Review extends Written {
  readonly request: AdmissionRequest;
  readonly decision: Decision;
}

/**
 * Reads an AdmissionReview, decides about its pod, and formats the answer. Returns the problem if the body is not an
 * AdmissionReview. Has no effects, so a dry run needs no care.
 */
export function review(body: Uint8Array, policy: InjectPolicy): Review | { readonly problem: string } {
  const read = readReview(body);
  if ("problem" in read) return read;
  const { request } = read;
  const decision = decideAdmission(request, policy);
  return { request, decision, ...writeReview(request.uid, decision.response) };
}

import type { InjectPolicy } from "../../core/inject/policy.ts";
import { type Decision, decideAdmission } from "./admission.ts";
import { type AdmissionRequest, readReview, type Written, writeReview } from "./admission-review.ts";

export interface Review extends Written {
  readonly request: AdmissionRequest;
  readonly decision: Decision;
}

/** Answers an AdmissionReview; returns the problem where the body is none. Pure, so that a dry run is like any other. */
export function review(body: Uint8Array, policy: InjectPolicy): Review | { readonly problem: string } {
  const read = readReview(body);
  if ("problem" in read) return read;
  const { request } = read;
  const decision = decideAdmission(request, policy);
  return { request, decision, ...writeReview(request.uid, decision.response) };
}

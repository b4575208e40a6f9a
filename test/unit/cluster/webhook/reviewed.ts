import type { Operation } from "rfc6902";
import type { InjectPolicy } from "../../../../src/cluster/inject/core/policy.ts";
import { type Reviewed, review } from "../../../../src/cluster/webhook/admission.ts";

export const policy: InjectPolicy = {
  image: "registry.example.com/ebb:1",
  all: false,
  volume: "emptyDir",
  options: new Map(),
  entrypoints: new Map(),
};

export const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { generateName: "web-7c9f-", annotations: { "ebb.dev/inject": "true" } },
  spec: { containers: [{ name: "app", image: "app", command: ["/app", "--port", "80"] }] },
};

/** A pod that does not ask for ebb. */
export const notAsked = { ...pod, metadata: { name: "web" } };

export const request = {
  uid: "705ab4f5-6393-11e8-b7cc-42010a800002",
  kind: { group: "", version: "v1", kind: "Pod" },
  resource: { group: "", version: "v1", resource: "pods" },
  namespace: "shop",
  operation: "CREATE",
  object: pod as unknown,
  dryRun: false,
};

export const envelope = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" };

/** Encodes a text as UTF-8. */
export const bytes = (text: string) => new TextEncoder().encode(text);

/** Returns the body of an AdmissionReview whose request has these changes. */
export const bodyOf = (changes: object) => bytes(JSON.stringify({ ...envelope, request: { ...request, ...changes } }));

/** Reviews a request with these changes. @throws Error if it is not a review that can be answered */
export function reviewed(changes: object, more: Partial<InjectPolicy> = {}): Reviewed & { readonly answer: Answer } {
  const result = review(bodyOf(changes), { ...policy, ...more });
  if (!("body" in result)) throw new Error(JSON.stringify(result));
  return { ...result, answer: JSON.parse(result.body).response };
}

/** The response of an AdmissionReview. */
interface Answer {
  readonly uid: string;
  readonly allowed: boolean;
  readonly patchType?: string;
  readonly patch?: string;
  readonly warnings?: readonly string[];
  readonly status?: { readonly message: string; readonly code: number };
  readonly auditAnnotations?: object;
}

/** Returns the operations of an answer's JSON Patch. */
export function patchOf({ patch = "" }: Answer): Operation[] {
  return JSON.parse(Buffer.from(patch, "base64").toString());
}

import * as z from "zod/mini";
import { hasMoreOutsideStrings } from "../../core/base/json-outside.ts";

/** A request of the API server about an object: an AdmissionRequest (admission.k8s.io/v1), as far as ebb reads it. */
export type AdmissionRequest = z.infer<typeof admissionRequest>;

/** The answer to it: an AdmissionResponse. `patch` is a JSON Patch; `status` says why it is not allowed. */
export interface AdmissionResponse {
  readonly allowed: boolean;
  readonly patch?: readonly object[];
  readonly warnings?: readonly string[];
  readonly status?: Readonly<Record<string, unknown>>;
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

const text = z.string({ error: "expected text" });
const kind = z.object({ group: text, version: text, kind: text }, { error: "expected a group, a version and a kind" });

const admissionRequest = z.object(
  {
    uid: text.check(z.minLength(1, { error: "expected an identifier" })),
    kind,
    subResource: z.optional(text),
    name: z.optional(text),
    namespace: z.optional(text),
    operation: text,
    object: z.optional(z.unknown()),
    dryRun: z.optional(z.nullable(z.boolean({ error: "expected true or false" }))),
  },
  { error: "expected an AdmissionRequest" },
);

const admissionReview = z.object(
  {
    apiVersion: z.literal("admission.k8s.io/v1", { error: "expected admission.k8s.io/v1" }),
    kind: z.literal("AdmissionReview", { error: "expected AdmissionReview" }),
    request: admissionRequest,
  },
  { error: "expected an AdmissionReview" },
);

/** Why a body is not an AdmissionReview. */
interface Problem {
  readonly problem: string;
}

/**
 * The most characters that a body may have outside of strings: as many as 40,000 variables have, which take 20 MB
 * parsed.
 */
const MOST_OUTSIDE_STRINGS = 400_000;

/**
 * Parses a body as an AdmissionReview (admission.k8s.io/v1, JSON) and returns its request, or a Problem, which quotes
 * nothing of it, because pods have secrets. Never throws.
 */
export function readReview(body: Uint8Array): { readonly request: AdmissionRequest } | Problem {
  const parsed = parse(body);
  if ("problem" in parsed) return parsed;
  const { success, data, error } = z.safeParse(admissionReview, parsed.value);
  return success ? { request: data.request } : { problem: error.issues.map(describeIssue).join("; ") };
}

function parse(body: Uint8Array): { readonly value: unknown } | Problem {
  let json: string;
  try {
    json = new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    return { problem: "the body is not UTF-8" };
  }
  if (hasMoreOutsideStrings(json, MOST_OUTSIDE_STRINGS)) {
    return { problem: `the body has more than ${MOST_OUTSIDE_STRINGS} characters outside of strings` };
  }
  try {
    return { value: JSON.parse(json) };
  } catch {
    return { problem: "the body is not JSON" }; // the error itself quotes the body
  }
}

function describeIssue({ path, message }: z.core.$ZodIssue): string {
  return path.length === 0 ? message : `${path.join(".")}: ${message}`;
}

/**
 * Formats the AdmissionReview that answers the request `uid` (admission.k8s.io/v1), and counts the bytes of its patch.
 */
export function writeReview(uid: string, { patch, ...response }: AdmissionResponse) {
  const json = patch === undefined ? undefined : Buffer.from(JSON.stringify(patch));
  const patched = json === undefined ? {} : { patchType: "JSONPatch", patch: json.toString("base64") };
  const body = JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: { uid, ...response, ...patched },
  });
  return { body, patchBytes: json?.length ?? 0 };
}

import * as z from "zod/mini";
import { hasMoreOutsideStrings } from "../../core/base/json-outside.ts";

/** What the API server asks about: an AdmissionRequest, as far as ebb reads it. */
export type AdmissionRequest = z.infer<typeof admissionRequest>;

/** What it is answered: an AdmissionResponse. */
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

interface Problem {
  readonly problem: string;
}

/** 40,000 variables have as many. Parsed they are 20 MB at most. */
const MOST_OUTSIDE_STRINGS = 400_000;

/** Parses the admission request in a body; a Problem where it is none. */
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
    return { problem: "the body is not JSON" }; // the error quotes it, and pods have secrets
  }
}

function describeIssue({ path, message }: z.core.$ZodIssue): string {
  return path.length === 0 ? message : `${path.join(".")}: ${message}`;
}

/** An answer, as it is sent. */
export interface Written {
  readonly body: string;
  readonly patchBytes: number;
}

/** Formats the AdmissionReview that answers a request (admission.k8s.io/v1), and counts the bytes of its patch. */
export function writeReview(uid: string, { patch, ...response }: AdmissionResponse): Written {
  const json = patch === undefined ? undefined : Buffer.from(JSON.stringify(patch));
  const patched = json === undefined ? {} : { patchType: "JSONPatch", patch: json.toString("base64") };
  const body = JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: { uid, ...response, ...patched },
  });
  return { body, patchBytes: json?.length ?? 0 };
}

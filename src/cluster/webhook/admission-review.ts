import * as z from "zod/mini";
import { hasMoreOutsideStrings } from "../../shared/core/json.ts";
import { oneLine } from "../../shared/core/text.ts";
import { counted } from "../../shared/core/wording.ts";
import type { Remark } from "../inject/core/pod.ts";

/** A request of the API server about an object: an AdmissionRequest (admission.k8s.io/v1), as far as ebb reads it. */
export type AdmissionRequest = z.infer<typeof admissionRequest>;

/**
 * What came of a request, as metrics and the log say it. `skipped`: nobody knows the command of a pod that needs it, or
 * only --all or its namespace selects the pod, and it cannot be changed.
 */
export type AdmissionResult = "injected" | "removed" | "unchanged" | "refused" | "skipped";

/** The answer to it. The API server gets its AdmissionResponse: all but `result`, `reason`, `containers` and `drained`. */
export interface AdmissionResponse {
  readonly result: AdmissionResult;
  /** Why the pod is not changed. */
  readonly reason?: string;
  /** The containers that ebb was put into, or taken out of. */
  readonly containers?: readonly string[];
  /** The containers that ebb drains and does not start, because their command is unknown, or must stay. */
  readonly drained?: readonly string[];
  readonly allowed: boolean;
  /** A JSON Patch, as text. */
  readonly patch?: string;
  readonly warnings?: readonly string[];
  /** Why it is not allowed. */
  readonly status?: Readonly<Record<string, unknown>>;
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

/** The most characters of a name in Kubernetes (apimachinery, pkg/util/validation, DNS1123SubdomainMaxLength). */
export const LONGEST_NAME = 253;

const text = z
  .string({ error: "expected text" })
  .check(z.maxLength(LONGEST_NAME, { error: `expected at most ${LONGEST_NAME} characters` }));
const kind = z.object({ group: text, version: text, kind: text }, { error: "expected a group, a version and a kind" });

const admissionRequest = z.object(
  {
    uid: text.check(z.minLength(1, { error: "expected an identifier" })),
    kind,
    subResource: z.optional(text),
    name: z.optional(z.string({ error: "expected text" })), // as its author wrote it: not checked yet
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
 * nothing of it, because pods have secrets. Never throws. `wasRead`: it was parsed before, and is not too dense.
 */
export function readReview(body: Uint8Array, wasRead: boolean): { readonly request: AdmissionRequest } | Problem {
  const parsed = parse(body, wasRead);
  if ("problem" in parsed) return parsed;
  const { success, data, error } = z.safeParse(admissionReview, parsed.value);
  return success ? { request: data.request } : { problem: error.issues.map(describeIssue).join("; ") };
}

function parse(body: Uint8Array, wasRead: boolean): { readonly value: unknown } | Problem {
  let json: string;
  try {
    json = new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    return { problem: "the body is not UTF-8" };
  }
  if (!wasRead && hasMoreOutsideStrings(json, MOST_OUTSIDE_STRINGS)) {
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

/** Formats the AdmissionReview that answers the request `uid` (admission.k8s.io/v1). */
export function writeReview(uid: string, response: AdmissionResponse): string {
  const { allowed, warnings, status, auditAnnotations, patch } = response;
  const patched = patch === undefined ? {} : { patchType: "JSONPatch", patch: Buffer.from(patch).toString("base64") };
  return JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: { uid, allowed, warnings, status, auditAnnotations, ...patched },
  });
}

/**
 * What the API server shows of warnings: 256 characters of each if they have more than 4,096 together
 * (k8s.io/apiserver, pkg/endpoints/filters/warning.go), and none with control characters (k8s.io/apimachinery,
 * pkg/util/net, NewWarningHeader).
 */
const LONGEST = 256;
const ALL = 4096;

/**
 * Formats remarks as warnings for kubectl, `ebb: FIELD: MESSAGE` without repetitions, each cut at 256 characters
 * (LONGEST). Those beyond 3,840 characters together are left out, and a last warning says how many they are.
 */
export function formatWarnings(remarks: readonly Remark[]): readonly string[] {
  const texts = [...new Set(remarks.map(({ field, message }) => shorten(`ebb: ${field}: ${message}`)))];
  const fitting: string[] = [];
  let length = 0;
  for (const text of texts) {
    length += text.length;
    if (length > ALL - LONGEST) break;
    fitting.push(text);
  }
  const left = texts.length - fitting.length;
  return left === 0 ? fitting : [...fitting, `ebb: ${counted(left, "more warning")}`];
}

function shorten(text: string): string {
  const plain = oneLine(text.toWellFormed());
  return plain.length <= LONGEST
    ? plain
    : `${plain
        .slice(0, LONGEST - 1)
        .toWellFormed()
        .replace(/\ufffd$/, "")}…`;
}

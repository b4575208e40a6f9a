import { isDnsSubdomain } from "../../shared/core/dns-name.ts";
import { describePath, isObject, listOf, objectOf, type Path, textOf } from "../../shared/core/json.ts";
import { oneLine, shortened } from "../../shared/core/text.ts";
import { POD_REFUSED } from "../core/installed.ts";
import { type ImageQuery, type Lookup, queryKey } from "../image/core/lookup.ts";
import { isTooLong, STATUS } from "../inject/core/annotation-names.ts";
import { type Injection, injectPod } from "../inject/core/inject-pod.ts";
import type { Remark } from "../inject/core/pod.ts";
import type { InjectPolicy } from "../inject/core/policy.ts";
import { formatSkipped, skippedIn } from "../inject/core/skipped.ts";
import {
  type AdmissionRequest,
  type AdmissionResponse,
  formatWarnings,
  LONGEST_NAME,
  readReview,
  writeReview,
} from "./admission-review.ts";
import { patchBetween } from "./json-patch.ts";

/** The Secrets that a pod names to pull its images (imagePullSecrets): at most 10 (`MOST_SECRETS`). */
export interface PullSecrets {
  readonly namespace: string;
  readonly names: readonly string[];
}

/** Returns what an image starts, for a pod that names these Secrets; undefined if it must be looked up first. */
export type ImageFor = (query: ImageQuery, secrets: PullSecrets) => Lookup | undefined;

/** What must be looked up before a pod can be decided about. Nothing else is kept of the pod meanwhile. */
export interface MissingImages {
  readonly queries: readonly ImageQuery[];
  readonly secrets: PullSecrets;
}

/** A request, the decision about it, and the AdmissionReview that says so (`body`). */
export interface Reviewed {
  readonly request: AdmissionRequest;
  readonly response: AdmissionResponse;
  readonly body: string;
  /** What is known of the images that the decision needs, by `queryKey`. */
  readonly lookups: ReadonlyMap<string, Lookup>;
}

/** What is known when a review is read. */
interface Known {
  readonly imageFor?: ImageFor;
  /** Whether the same body was read before. */
  readonly wasRead?: boolean;
}

/**
 * Reads an AdmissionReview and decides about its pod; `missing`: only once these images have been looked up. Returns
 * the problem if the body is not an AdmissionReview. Has no effects, so a dry run needs no care.
 */
export function review(
  body: Uint8Array,
  policy: InjectPolicy,
  { imageFor, wasRead = false }: Known = {},
): Reviewed | { readonly missing: MissingImages } | { readonly problem: string } {
  const read = readReview(body, wasRead);
  if ("problem" in read) return read;
  const { request } = read;
  const secrets = pullSecretsOf(request);
  const lookups = new Map<string, Lookup>();
  const imageOf = (query: ImageQuery): Lookup | undefined => {
    const lookup = imageFor?.(query, secrets);
    if (lookup !== undefined) lookups.set(queryKey(query), lookup);
    return lookup;
  };
  const response = decideAdmission(request, imageFor === undefined ? policy : { ...policy, imageOf });
  if ("missing" in response) return { missing: { queries: response.missing, secrets } };
  return { request, response, body: writeReview(request.uid, response), lookups };
}

const MOST_SECRETS = 10;

/** Admission has added those of the pod's ServiceAccount by now (plugin/pkg/admission/serviceaccount). */
function pullSecretsOf({ namespace = "", object }: AdmissionRequest): PullSecrets {
  const named = listOf(objectOf(objectOf(object).spec).imagePullSecrets).map((secret) => textOf(objectOf(secret).name));
  const names = new Set(named.filter((name) => name !== undefined && isDnsSubdomain(name)) as string[]);
  return { namespace, names: [...names].slice(0, MOST_SECRETS) };
}

/**
 * Decides about a pod by the same change as `ebb inject`; anything but a new pod is let in as it is. A pod that asks
 * for ebb and is wrong is refused (422), so that its owner reads why (`kubectl describe job`). One that only --all or
 * its namespace selects, or whose command nobody knows, is let in as it is, with a warning, and with the reason in its
 * ebb.dev/status.
 */
function decideAdmission(
  request: AdmissionRequest,
  policy: InjectPolicy,
): AdmissionResponse | Extract<Injection, { kind: "incomplete" }> {
  if (!isNewPod(request)) return unchanged("only new pods are changed");
  const injection = inject(request.object, policy);
  const { warnings } = injection;
  if (injection.kind === "incomplete") return injection;
  if (injection.kind === "unchanged") return unchanged(injection.reason, warnings);
  if (injection.kind === "skipped") return skipped(request.object, injection.problems, warnings);
  if (injection.kind === "refused") {
    const { isMistake, problems } = injection;
    return isMistake ? refused(problems, warnings) : skipped(request.object, problems, warnings);
  }
  const { kind, pod, containers } = injection;
  const lost = kind === "removed" ? injection.problems : [];
  const result = kind === "removed" ? "removed" : "injected";
  const drained = kind === "removed" ? [] : injection.drained;
  const namesOf = (names: readonly string[]) => shortened(names.join(","), LONGEST);
  return {
    result,
    containers,
    ...(drained.length > 0 && { drained }),
    ...allowed([...lost, ...warnings]),
    auditAnnotations: { [result]: namesOf(containers), ...(drained.length > 0 && { drained: namesOf(drained) }) },
    patch: JSON.stringify(patchBetween(request.object, pod)),
  };
}

/**
 * Changes a pod, unless it has more than 100 containers of a kind, a list or an object of more than 1000 items, more than
 * 100 levels, or 512 KiB of names and short texts, as no real pod: such a pod could delay all others for seconds.
 */
function inject(pod: unknown, policy: InjectPolicy): Injection {
  const excess = excessIn(pod, 0, { left: MOST_TEXT }) ?? excessOfContainers(pod);
  if (excess === undefined) return injectPod(pod, { ...policy, isAdmission: true });
  const bare = injectPod({ metadata: objectOf(pod).metadata }, policy);
  if (bare.kind === "unchanged") return bare;
  const field = shortened(describePath(excess.path.slice(0, DEEPEST_NAMED)), LONGEST_NAME);
  const isMistake = "problems" in bare && bare.isMistake;
  return { kind: "refused", isMistake, problems: [{ field, message: excess.message }], warnings: [] };
}

const MOST_ITEMS = 1000;
/** Each costs time, and may have a hook and a command of some 4 KiB each that are looked into. */
const MOST_CONTAINERS = 100;
const DEEPEST = 100;
const DEEPEST_NAMED = 6;
/** The most characters outside of `LONG_FIELDS`, and what each value counts beside its own: ebb may read each several times. */
const MOST_TEXT = 512 * 1024;
const VALUE = 24;
/** Of these, ebb reads only what is short (`LONGEST_READ`), or nothing; Kubernetes itself bounds annotations. */
const LONG_FIELDS = ["annotations", "args", "command", "managedFields", "value"];
const TOO_MUCH = `with this, the pod has more than ${MOST_TEXT / 1024} KiB beside its annotations, commands, args and values`;

interface Excess {
  readonly path: Path;
  readonly message: string;
}

/** `room`: how many characters the pod may have from here on. */
function excessIn(value: unknown, depth: number, room: { left: number }): Excess | undefined {
  room.left -= typeof value === "string" ? VALUE + value.length : VALUE;
  if (room.left < 0) return { path: [], message: TOO_MUCH };
  if (typeof value !== "object" || value === null) return undefined;
  if (depth > DEEPEST) return { path: [], message: `deeper than ${DEEPEST} levels` };
  const isList = Array.isArray(value);
  const items = Object.entries(value);
  if (items.length > MOST_ITEMS) return { path: [], message: `more than ${MOST_ITEMS} items` };
  for (const [name, inner] of items) {
    if (!isList) room.left -= name.length;
    const found = excessIn(inner, depth + 1, LONG_FIELDS.includes(name) ? { left: Number.POSITIVE_INFINITY } : room);
    if (found !== undefined) return { ...found, path: [isList ? Number(name) : name, ...found.path] };
  }
  return undefined;
}

function excessOfContainers(pod: unknown): Excess | undefined {
  const spec = objectOf(objectOf(pod).spec);
  const list = ["containers", "initContainers"].find((name) => listOf(spec[name]).length > MOST_CONTAINERS);
  return list === undefined ? undefined : { path: ["spec", list], message: `more than ${MOST_CONTAINERS} items` };
}

function isNewPod({ kind, operation, subResource }: AdmissionRequest): boolean {
  return kind.group === "" && kind.kind === "Pod" && operation === "CREATE" && !subResource;
}

function allowed(warnings: readonly Remark[]) {
  return { allowed: true, ...(warnings.length === 0 ? {} : { warnings: formatWarnings(warnings) }) };
}

function unchanged(reason: string, warnings: readonly Remark[] = []): AdmissionResponse {
  return { result: "unchanged", reason, ...allowed(warnings) };
}

function skipped(pod: unknown, problems: readonly Remark[], warnings: readonly Remark[]): AdmissionResponse {
  const notes = problems.map(({ field, message }) => ({ field, message: `the pod is left as it is: ${message}` }));
  const reason = describe(problems);
  const patch = patchBetween(pod, withSkipped(pod, reason));
  return {
    ...{ result: "skipped", reason, ...allowed([...notes, ...warnings]) },
    ...(patch.length === 0 ? {} : { patch: JSON.stringify(patch) }),
  };
}

/** Returns a pod with ebb.dev/status that says why it is left; a status of what ebb has put there stays. */
function withSkipped(pod: unknown, reason: string): unknown {
  if (!isObject(pod)) return pod;
  const metadata = objectOf(pod.metadata);
  const annotations = objectOf(metadata.annotations);
  if (annotations[STATUS] !== undefined && skippedIn(annotations[STATUS]) === undefined) return pod;
  const noted = { ...annotations, [STATUS]: formatSkipped(reason) };
  return isTooLong(noted) ? pod : { ...pod, metadata: { ...metadata, annotations: noted } };
}

/** Refuses a pod, without `details`: kubectl would show them in place of the message and of who refused it. */
function refused(problems: readonly Remark[], warnings: readonly Remark[]): AdmissionResponse {
  const reason = describe(problems);
  const message = oneLine(POD_REFUSED + reason); // kubectl shows it as it is
  const status = { status: "Failure", code: 422, reason: "Invalid", message };
  return { result: "refused", reason, ...allowed(warnings), allowed: false, status };
}

/** Characters of a text that a person reads. */
const LONGEST = 10_000;

function describe(problems: readonly Remark[]): string {
  return shortened(problems.map(({ field, message }) => `${field}: ${message}`).join("; "), LONGEST);
}

/** Returns a pod's name; of a Deployment's or Job's pod, which has none yet, its generateName and `*`. */
export function podNameOf({ name, object }: AdmissionRequest): string {
  const metadata = objectOf(objectOf(object).metadata);
  return shortened(name || textOf(metadata.name) || `${textOf(metadata.generateName) ?? ""}*`, LONGEST_NAME);
}

/** Returns the first owner of a pod as KIND/NAME, such as `ReplicaSet/web-7c9f`; undefined if it has none. */
export function ownerOf({ object }: AdmissionRequest): string | undefined {
  const owners = objectOf(objectOf(object).metadata).ownerReferences;
  const { kind, name } = objectOf(Array.isArray(owners) ? owners[0] : undefined);
  return typeof kind === "string" && typeof name === "string" ? shortened(`${kind}/${name}`, LONGEST_NAME) : undefined;
}

import { copyOf, type JsonObject, objectOf } from "../base/json.ts";
import { isSame } from "../base/same.ts";
import { shortened } from "../base/text.ts";
import { ASK, annotationField, STATUS } from "./annotation-names.ts";
import { changePod } from "./change-pod.ts";
import { isLeft, remarkOnUnknown } from "./container/app.ts";
import { roleOf } from "./container/role.ts";
import { makeNative } from "./native.ts";
import { otherSystem } from "./other-system.ts";
import { type Container, checkPod, MOST_REMARKS, type Pod, type Remark, type Remarks } from "./pod.ts";
import { idleAnnotations, readInjectAnnotation, readPodAnnotations, strayLabels } from "./pod-annotations.ts";
import type { InjectPolicy } from "./policy.ts";
import { removeEbb, removeInjection } from "./remove.ts";
import { type Recorded, readStatus, recordStatus } from "./status.ts";

/**
 * What came of putting ebb into a pod, or taking it out. `asked`: the pod's annotations, or the caller of
 * `removeFromPod`, asked for it, so that a refusal is an error. A pod that nobody asked for, but that the policy's
 * `all` selected, stays as it is if it is refused.
 */
export type Injection = { readonly asked: boolean; readonly warnings: readonly Remark[] } & (
  | ({ readonly kind: "changed"; readonly pod: Pod } & Recorded)
  | { readonly kind: "removed"; readonly pod: Pod; readonly containers: readonly string[] }
  | { readonly kind: "unchanged"; readonly reason: string }
  /** ebb can start no app: nobody knows its command, or that must stay. The pod is right, and stays as it is. */
  | { readonly kind: "skipped"; readonly reason: string; readonly problems: readonly Remark[] }
  | { readonly kind: "refused"; readonly problems: readonly Remark[] }
);

/**
 * Puts ebb into a pod or pod template, renews what an earlier ebb has put there, or takes it out if ebb.dev/inject is
 * "false". Accepts any JSON. Never throws, and does not change its argument. Remarks are the first 50 (`MOST_REMARKS`).
 */
export function injectPod(pod: unknown, policy: InjectPolicy): Injection {
  const injection = injectWhole(pod, policy);
  const stray = strayLabels(objectOf(objectOf(objectOf(pod).metadata).labels));
  return capped({ ...injection, warnings: [...injection.warnings, ...stray] });
}

/**
 * Takes ebb out of a pod or pod template, whatever ebb.dev/inject says, and warns if that asks for ebb again. Accepts
 * any JSON. Never throws, and does not change its argument.
 */
export function removeFromPod(pod: unknown): Injection {
  const removal = remove(pod) ?? { kind: "unchanged", reason: "ebb is not in it" };
  const comesBack = removal.kind === "removed" && readInjectAnnotation(annotationsOf(pod)) === true;
  return capped({ ...removal, asked: true, warnings: comesBack ? [comesAgain] : [] });
}

const comesAgain: Remark = {
  field: annotationField(ASK),
  message: 'this asks for ebb again: write "false" or remove it, or the next ebb inject or the webhook puts ebb back',
};

function capped(injection: Injection): Injection {
  const warnings = firstOf(injection.warnings);
  if ("problems" in injection) return { ...injection, problems: firstOf(injection.problems), warnings };
  return { ...injection, warnings };
}

const LONGEST_MESSAGE = 4000;

/** Returns the first remarks, shortened: their number and length are up to the authors of pods. */
function firstOf(remarks: readonly Remark[]): readonly Remark[] {
  const first = remarks.slice(0, MOST_REMARKS).map(({ field, message }) => ({
    field: shortened(field, LONGEST_MESSAGE),
    message: shortened(message, LONGEST_MESSAGE),
  }));
  const left = remarks.length - first.length;
  return left === 0 ? first : [...first, { field: "metadata", message: `and ${left} more, which are not listed` }];
}

/**
 * The most bytes that the names and values of an object's annotations may have (apimachinery, pkg/api/validation,
 * TotalAnnotationSizeLimitB).
 */
const MOST_ANNOTATIONS = 256 * 1024;

function injectWhole(pod: unknown, policy: InjectPolicy): Injection {
  const annotations = annotationsOf(pod);
  if (isTooLong(annotations)) {
    const message = `more than ${MOST_ANNOTATIONS / 1024} KiB, which Kubernetes refuses`;
    return { kind: "refused", asked: false, problems: [{ field: "metadata.annotations", message }], warnings: [] };
  }
  const wish = readInjectAnnotation(annotations);
  if (typeof wish === "object") return { kind: "refused", asked: true, problems: [wish], warnings: [] };
  const asked = wish === true;
  const removed = wish === false ? remove(pod) : undefined;
  if (removed !== undefined) return removed;
  const reason = reasonToLeave(annotations, wish, policy);
  if (reason !== undefined)
    return { kind: "unchanged", asked, reason, warnings: wish === false ? [] : idleAnnotations(annotations, reason) };
  const malformed = checkPod(pod);
  if (malformed.length > 0) return { kind: "refused", asked, problems: malformed, warnings: [] };
  return inject(pod as Pod, policy, asked);
}

function annotationsOf(pod: unknown): JsonObject {
  return objectOf(objectOf(objectOf(pod).metadata).annotations);
}

/** Takes ebb out of a pod. Returns undefined if ebb is not in it. */
function remove(pod: unknown): Injection | undefined {
  const removal = removeEbb(pod);
  return removal === undefined ? undefined : { ...removal, asked: false, warnings: [] };
}

function isTooLong(annotations: JsonObject): boolean {
  let length = 0;
  for (const [name, value] of Object.entries(annotations))
    length += name.length + (typeof value === "string" ? value.length : 0);
  return length > MOST_ANNOTATIONS;
}

/** Returns why a pod stays as it is, whatever is in it; undefined if it may be changed. */
function reasonToLeave(annotations: JsonObject, wish: boolean | undefined, { all }: InjectPolicy): string | undefined {
  if (wish === false) return 'it says ebb.dev/inject: "false"';
  if (wish === undefined && !all) return 'it does not say ebb.dev/inject: "true"';
  const isMirror = annotations["kubernetes.io/config.mirror"] !== undefined;
  return isMirror ? "it is a static pod's mirror, which nobody can change" : undefined;
}

function inject(pod: Pod, policy: InjectPolicy, asked: boolean): Injection {
  const unchanged = (reason: string, warnings: readonly Remark[] = []) =>
    ({ kind: "unchanged", asked, reason, warnings }) as const;
  const other = otherSystem(pod);
  if (other !== undefined)
    return asked ? { kind: "refused", asked, problems: [other], warnings: [] } : unchanged(other.message);
  const hasApp = pod.spec.containers.some((container) => roleOf(pod, container, nobodySaid) !== "sidecar");
  if (!asked && !hasApp) return unchanged("it has only sidecars");
  const annotations = pod.metadata?.annotations ?? {};
  const status = readStatus(annotations[STATUS]);
  if (status !== undefined && "field" in status) return { kind: "refused", asked, problems: [status], warnings: [] };
  const before = copyOf(pod);
  const former = status === undefined ? undefined : removeInjection(before, status);
  const all = { ...policy, options: new Map([...(former?.options ?? []), ...policy.options]) };
  const remarks: Remarks = { problems: [], warnings: [] };
  const said = readPodAnnotations(annotations, remarks);
  // an option of ebb asks for ebb, by whichever rule the pod was selected
  const isAsked = asked || remarks.problems.length > 0;
  const next = copyOf(before);
  const ofNative: Remarks = { problems: [], warnings: [] };
  const moved = makeNative(next, said, ofNative);
  remarks.warnings.push(...ofNative.warnings.map(placesIn(pod, before)));
  const compared = moved.size === 0 ? before : copyOf(next);
  const found: Remarks = { problems: [], warnings: [] };
  const kept = policy.isAdmission && status?.ebb === policy.image && former ? former : { installs: [], volumes: [] };
  const apps = changePod(next, { annotations: said, policy: all, former: former?.words ?? new Map(), kept }, found);
  const place = placesIn(pod, next);
  const leftApps = apps.filter(isLeft);
  const left = leftApps.flatMap((app) => remarkOnUnknown(app, pod).map(place));
  const problems = [...remarks.problems, ...found.problems.map(place)];
  const others = distinct([...remarks.warnings, ...found.warnings.map(place)]);
  const warnings = distinct([...left, ...others]);
  if (problems.length > 0) return { kind: "refused", asked: isAsked, problems, warnings: others };
  const recorded = recordStatus(next, compared, { policy: all, apps, moved });
  if (left.length > 0 && recorded === undefined) {
    // what an earlier injection has put there, and cannot be brought up to date, may be wrong by now
    const containers = Object.keys(status?.containers ?? {});
    if (containers.length > 0) return { kind: "removed", asked, pod: before, containers, warnings };
    const isFixed = leftApps.every(({ start }) => start.kind === "unknown" && start.isKept);
    const reason = `its command ${isFixed ? "must stay as it is" : "is not known"}`;
    return { kind: "skipped", asked, reason, problems: left, warnings: others };
  }
  if (!isSame(next, pod)) return { kind: "changed", asked, pod: next, ...(recorded ?? nothing), warnings };
  return unchanged(recorded === undefined ? "there is nothing to change" : "it has ebb already", warnings);
}

const nobodySaid = { apps: new Set<string>(), sidecars: new Set<string>() };

/** Returns a function that finds the container of a remark about `changed` where it stands in the pod that was given. */
function placesIn({ spec: { containers, initContainers } }: Pod, changed: Pod): (remark: Remark) => Remark {
  const indexIn = (list: readonly Container[], name: string | undefined) => list.findIndex((one) => one.name === name);
  const placeOf = (_: string, index: string) => {
    const name = changed.spec.containers[Number(index)]?.name;
    const at = indexIn(containers, name);
    return at >= 0 ? `spec.containers[${at}]` : `spec.initContainers[${indexIn(initContainers ?? [], name)}]`;
  };
  return ({ field, message }) => ({ field: field.replace(/^spec\.containers\[(\d+)\]/, placeOf), message });
}

const nothing: Recorded = { containers: [], drained: [], natives: [] };

function distinct(remarks: readonly Remark[]): readonly Remark[] {
  return [...new Map(remarks.map((remark) => [`${remark.field}: ${remark.message}`, remark])).values()];
}

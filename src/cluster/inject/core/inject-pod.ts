import { copyOf, describePath, type JsonObject, objectOf, type Path } from "../../../shared/core/json.ts";
import { isSame } from "../../core/same.ts";
import type { ImageQuery } from "../../image/core/lookup.ts";
import { ASK, annotationField, isTooLong, STATUS, TOO_LONG } from "./annotation-names.ts";
import { type App, appsOf, runsEbb } from "./apps/app.ts";
import { remarkOnUnwrapped } from "./concerns/command.ts";
import { planOf } from "./concerns/concerns.ts";
import { applyEdits, type Edit, isChange, recordEdits, withAnnotation } from "./edits/edit.ts";
import { removeEbb, warnOfUnrecorded } from "./edits/remove.ts";
import { formatStatus, readStatus, type Status } from "./edits/status.ts";
import { undoEdits } from "./edits/undo.ts";
import { writtenIn } from "./edits/written.ts";
import { factsOf, type PodFacts } from "./facts/facts.ts";
import type { Former } from "./facts/former-injection.ts";
import { otherSystem } from "./facts/other-system.ts";
import { checkPod, type Pod, type Remark, type Remarks } from "./pod.ts";
import { idleAnnotations, readInjectAnnotation, readPodAnnotations, strayLabels } from "./pod-annotations.ts";
import type { InjectPolicy } from "./policy.ts";
import { distinct, firstRemarks, toRemarkIn } from "./remarks.ts";

/** What came of putting ebb into a pod, or taking it out. */
export type Injection = { readonly warnings: readonly Remark[] } & (
  | ({ readonly kind: "changed"; readonly pod: Pod } & Recorded)
  /** `problems`: why the ebb that was taken out cannot be renewed, if that was wanted. */
  | ({ readonly kind: "removed"; readonly pod: Pod; readonly containers: readonly string[] } & Problems)
  | { readonly kind: "unchanged"; readonly reason: string }
  /** Nothing of ebb can be put into it: nobody knows its command, or that must stay. The pod is right, and stays as it is. */
  | ({ readonly kind: "skipped"; readonly reason: string } & Problems)
  | ({ readonly kind: "refused" } & Problems)
  /** The commands of these images must be looked up first (`InjectPolicy.imageOf`). */
  | { readonly kind: "incomplete"; readonly missing: readonly ImageQuery[] }
);

interface Problems {
  readonly problems: readonly Remark[];
  /**
   * Whether they are errors, for the pod's author to correct: the pod, or the caller of `removeFromPod`, asked for what
   * cannot be. If nothing but the policy's `all` selected it, or no author can tell its command, they are warnings.
   */
  readonly isMistake: boolean;
}

/** What was put into a pod, by the names of its containers. */
interface Recorded {
  /** Those whose command starts with ebb from now on. */
  readonly containers: readonly string[];
  /** Those that ebb drains, and does not start, because nobody knows their command, or that must stay. */
  readonly drained: readonly string[];
  /** Those that ebb has made native sidecars. */
  readonly natives: readonly string[];
}

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
 * Takes ebb out of a pod or pod template, whatever ebb.dev/inject says. Warns if that asks for ebb again, and if ebb
 * stays because ebb.dev/status is missing. Accepts any JSON. Never throws, and does not change its argument.
 */
export function removeFromPod(pod: unknown): Injection {
  const removal = remove(pod);
  if (removal === undefined) return capped({ kind: "unchanged", ...whyNotRemoved(pod) });
  const comesBack = removal.kind === "removed" && readInjectAnnotation(annotationsOf(pod)) === true;
  return capped({ ...removal, isMistake: true, warnings: comesBack ? [comesAgain] : [] });
}

function whyNotRemoved(pod: unknown): Pick<Injection, "warnings"> & { readonly reason: string } {
  const unrecorded = warnOfUnrecorded(pod);
  if (unrecorded === undefined) return { reason: "ebb is not in it", warnings: [] };
  return { reason: `it has no ${STATUS}`, warnings: [unrecorded] };
}

const comesAgain: Remark = {
  field: annotationField(ASK),
  message: 'this asks for ebb again: write "false" or remove it, or the next ebb inject or the webhook puts ebb back',
};

function capped(injection: Injection): Injection {
  const warnings = firstRemarks(injection.warnings);
  if ("problems" in injection) return { ...injection, problems: firstRemarks(injection.problems), warnings };
  return { ...injection, warnings };
}

function injectWhole(pod: unknown, policy: InjectPolicy): Injection {
  const annotations = annotationsOf(pod);
  if (isTooLong(annotations)) {
    const message = `${TOO_LONG}, which Kubernetes refuses`;
    return { kind: "refused", isMistake: false, problems: [{ field: "metadata.annotations", message }], warnings: [] };
  }
  const wish = readInjectAnnotation(annotations);
  if (typeof wish === "object") return { kind: "refused", isMistake: true, problems: [wish], warnings: [] };
  const asked = wish === true;
  const removed = wish === false ? remove(pod) : undefined;
  if (removed !== undefined) return removed;
  const reason = reasonToLeave(annotations, wish, policy);
  if (reason !== undefined)
    return { kind: "unchanged", reason, warnings: wish === false ? [] : idleAnnotations(annotations, reason) };
  const malformed = checkPod(pod);
  if (malformed.length > 0) return { kind: "refused", isMistake: asked, problems: malformed, warnings: [] };
  return inject(pod as Pod, policy, asked);
}

function annotationsOf(pod: unknown): JsonObject {
  return objectOf(objectOf(objectOf(pod).metadata).annotations);
}

/** Takes ebb out of a pod. Returns undefined if it has no ebb.dev/status. */
function remove(pod: unknown): Extract<Injection, Problems> | undefined {
  const removal = removeEbb(pod);
  return removal === undefined ? undefined : { problems: [], ...removal, isMistake: false, warnings: [] };
}

/** Returns why a pod stays as it is, whatever is in it; undefined if it may be changed. */
function reasonToLeave(annotations: JsonObject, wish: boolean | undefined, { all }: InjectPolicy): string | undefined {
  if (wish === false) return 'it says ebb.dev/inject: "false"';
  if (wish === undefined && !all) return 'it does not say ebb.dev/inject: "true"';
  const isMirror = annotations["kubernetes.io/config.mirror"] !== undefined;
  return isMirror ? "it is the mirror of a static pod, which cannot be changed" : undefined;
}

function inject(pod: Pod, policy: InjectPolicy, asked: boolean): Injection {
  const other = otherSystem(pod);
  if (other !== undefined)
    return asked
      ? { kind: "refused", isMistake: true, problems: [other], warnings: [] }
      : { kind: "unchanged", reason: other.message, warnings: [] };
  const annotations = pod.metadata?.annotations ?? {};
  const status = readStatus(annotations[STATUS]);
  if (status !== undefined && "field" in status)
    return { kind: "refused", isMistake: asked, problems: [status], warnings: [] };
  const before = status === undefined ? pod : copyOf(pod);
  const former = status === undefined ? undefined : formerOf(before, status, policy);
  const remarks: Remarks = { problems: [], warnings: [] };
  const requested = readPodAnnotations(annotations, remarks);
  const facts = factsOf({ pod: before, policy: withFormer(policy, former), requested, former });
  if (!asked && !facts.hasOwnApp) return { kind: "unchanged", reason: "it has only sidecars", warnings: [] };
  if (facts.missingImages.length > 0) return { kind: "incomplete", missing: facts.missingImages, warnings: [] };
  const apps = appsOf(facts);
  const plan = planOf(facts, apps);
  const toRemark = toRemarkIn(pod);
  const onUnchanged = apps.filter((app) => !runsEbb(app)).flatMap((app) => remarkOnUnwrapped(app, facts).map(toRemark));
  const problems = [...remarks.problems, ...plan.problems.map(toRemark)];
  const otherWarnings = distinct([...remarks.warnings, ...plan.warnings.map(toRemark)]);
  // a wrong annotation of ebb shows that the author wants ebb, whichever rule selected the pod
  const isMistake = asked || remarks.problems.length > 0;
  if (problems.length > 0) return { kind: "refused", isMistake, problems, warnings: otherWarnings };
  return outcomeOf({ pod, facts, apps, edits: plan.edits, status, asked, onUnchanged, otherWarnings });
}

/** Takes an earlier ebb out of a pod, in place. Its own container and volumes are kept as they are for the same ebb. */
function formerOf(pod: Pod, status: Status, { isAdmission, image }: InjectPolicy): Former {
  const former = undoEdits(pod, status);
  return isAdmission === true && status.ebb === image ? former : { ...former, installs: [], volumes: [] };
}

function withFormer(policy: InjectPolicy, former: Former | undefined): InjectPolicy {
  return former === undefined ? policy : { ...policy, options: new Map([...former.options, ...policy.options]) };
}

/** What is planned for a pod that nothing speaks against. */
interface Planned {
  readonly pod: Pod;
  readonly facts: PodFacts;
  readonly apps: readonly App[];
  readonly edits: readonly Edit[];
  /** That of an earlier injection. */
  readonly status: Status | undefined;
  readonly asked: boolean;
  /** Remarks on apps in which ebb does not run. */
  readonly onUnchanged: readonly Remark[];
  /** All other warnings. */
  readonly otherWarnings: readonly Remark[];
}

function outcomeOf({ pod, facts, apps, edits, status, asked, onUnchanged, otherWarnings }: Planned): Injection {
  const warnings = distinct([...onUnchanged, ...otherWarnings]);
  const before = facts.pod;
  // a command that nobody told is for the author to tell, but for one that the pod's controller sets
  const isUntold = apps.some(
    ({ start, container }) =>
      start.kind === "unwrapped" && !start.mustStay && facts.policy.setsCommand?.(container) !== true,
  );
  if (!edits.some(isChange)) {
    const left = { isMistake: asked && isUntold, problems: onUnchanged, warnings: otherWarnings };
    // the old injection cannot be renewed: take it out
    const containers = Object.keys(status?.containers ?? {});
    if (onUnchanged.length > 0 && containers.length > 0) return { ...left, kind: "removed", pod: before, containers };
    if (onUnchanged.length > 0) {
      const mustStay = apps
        .filter((app) => !runsEbb(app))
        .every(({ start }) => start.kind === "unwrapped" && start.mustStay);
      const reason = `its command ${mustStay ? "must stay as it is" : "is not known"}`;
      return { ...left, kind: "skipped", reason };
    }
    // an earlier ebb was taken out, and nothing of this one is needed
    if (!isSame(before, pod)) return { kind: "changed", pod: before, ...nothing, warnings };
    return { kind: "unchanged", reason: "there is nothing to change", warnings };
  }
  const edited = applyEdits(before, edits);
  const former = new Map(writtenIn(pod).map(([path, text]) => [describePath(path), text]));
  const textAt = (path: Path) => facts.policy.writtenAt?.(path) ?? former.get(describePath(path));
  const recorded = { ...recordEdits({ before, after: edited, edits }, textAt), ...optionsOf(facts.policy) };
  const next = withAnnotation(edited, STATUS, formatStatus(recorded));
  if (isSame(next, pod)) return { kind: "unchanged", reason: "it has ebb already", warnings };
  if (isTooLong(next.metadata?.annotations ?? {})) {
    const message = `they leave no room for ${STATUS}, which says how to take ebb out again: Kubernetes refuses ${TOO_LONG}`;
    const problems = [{ field: "metadata.annotations", message }];
    return {
      kind: "skipped",
      isMistake: asked,
      reason: `there is no room for ${STATUS}`,
      problems,
      warnings: otherWarnings,
    };
  }
  return { kind: "changed", pod: next, ...recordedIn(edits, apps, facts), warnings };
}

function optionsOf({ options }: InjectPolicy): Pick<Status, "options"> {
  return options.size === 0 ? {} : { options: Object.fromEntries(options) };
}

const nothing: Recorded = { containers: [], drained: [], natives: [] };

function recordedIn(edits: readonly Edit[], apps: readonly App[], { containers }: PodFacts): Recorded {
  const changes = edits.filter(isChange);
  const wrapped = new Set(changes.flatMap((edit) => (edit.kind === "command" ? [edit.container] : [])));
  const changed = new Set(changes.flatMap((edit) => ("container" in edit ? [edit.container] : [])));
  const unwrapped = new Set(apps.flatMap(({ name, start }) => (start.kind === "unwrapped" ? [name] : [])));
  const names = containers.map(({ name }) => name);
  return {
    containers: names.filter((name) => wrapped.has(name)),
    drained: names.filter((name) => changed.has(name) && unwrapped.has(name)),
    natives: edits.flatMap((edit) => (edit.kind === "native" ? edit.moved.map(({ name }) => name) : [])),
  };
}

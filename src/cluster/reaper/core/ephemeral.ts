import { oneLine, shortened } from "../../../shared/core/text.ts";
import { type ContainerView, EPHEMERAL_PREFIX, type PodView } from "./pod-view.ts";

// Ephemeral containers stay in a pod's spec for ever. So the reaper does not add one again that has failed.

/** The most ephemeral containers that the reaper puts into a pod. */
const MAX_EPHEMERAL = 5;
/** The most characters of what the kubelet says. */
const LONGEST = 300;

/** Returns the ephemeral containers of a pod that the reaper has added. */
export function ownEphemerals({ ephemeralContainers }: PodView): readonly ContainerView[] {
  return ephemeralContainers.filter(({ name }) => name.startsWith(EPHEMERAL_PREFIX));
}

/**
 * Reports whether a container runs, or the kubelet is about to start it. One whose state is not known counts as
 * running.
 */
export function isAtWork({ state }: ContainerView): boolean {
  return state.kind === "running" || state.kind === "unknown" || (state.kind === "waiting" && isStarting(state.reason));
}

/**
 * The reasons to wait of a container that will start (kubernetes pkg/kubelet/kubelet_pods.go: ContainerCreating,
 * PodInitializing). With any other reason it does not start.
 */
const starting: ReadonlySet<string> = new Set(["ContainerCreating", "PodInitializing", "no reason"]);

function isStarting(reason: string): boolean {
  return starting.has(reason);
}

/** The image and arguments of an ephemeral container that is to be added. */
interface Wanted {
  readonly image?: string | undefined;
  readonly args: readonly string[];
}

/**
 * Returns why no ephemeral container with this image and these arguments may be added to the pod: the same one has
 * failed there, or the reaper has added 5 already (`MAX_EPHEMERAL`). Returns undefined if it may.
 */
export function objectionTo({ image, args }: Wanted, pod: PodView): string | undefined {
  const own = ownEphemerals(pod);
  const isSame = (each: ContainerView) => each.image === image && isCall(args, each.args);
  const failure = own.filter(isSame).flatMap((each) => failureOf(each) ?? []);
  if (failure.length > 0) return failure[0];
  return own.length < MAX_EPHEMERAL ? undefined : `${own.length} containers of the reaper are in it already`;
}

/**
 * Reports whether an ephemeral container has these arguments. The reaper appends --quit-timeout
 * (cluster/reaper/methods/ephemeral.ts), which is not compared.
 */
function isCall(wanted: readonly string[], args: readonly unknown[]): boolean {
  const end = args.indexOf("--quit-timeout");
  const own = end < 0 ? args : args.slice(0, end);
  return own.length === wanted.length && own.every((arg, at) => arg === wanted[at]);
}

/** Returns, in the kubelet's words, why an ephemeral container failed; undefined if it did not. */
function failureOf({ name, state }: ContainerView): string | undefined {
  if (state.kind === "waiting" && !isStarting(state.reason)) {
    return notStarted(name, state);
  }
  if (state.kind !== "terminated" || state.exitCode === 0) return undefined;
  return `ephemeral container ${name} has ended with ${state.exitCode}: ${described(state.reason, state.message)}`;
}

/** Says, in the kubelet's words, why an ephemeral container does not start. */
function notStarted(name: string, { reason, message }: Reasons): string {
  return `ephemeral container ${name} does not start: ${described(reason, message)}`;
}

interface Reasons {
  readonly reason: string;
  readonly message?: string | undefined;
}

function described(reason: string, message: string | undefined): string {
  return message === undefined
    ? reason
    : `${reason}: ${shortened(oneLine(message.replace(/\s+/g, " ").trim()), LONGEST)}`;
}

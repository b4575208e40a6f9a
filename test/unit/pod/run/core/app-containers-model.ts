import {
  formatRecord,
  haveToldToQuit,
  type Peer,
  parseRecord,
  quitterOf,
  whyNotLast,
} from "../../../../../src/pod/run/core/peers.ts";
import { mayRestartAfterCrash, type RestartPolicy, whyRestarted } from "../../../../../src/shared/core/restart.ts";

// The app containers of a pod, step by step as src/pod/run/peers.ts has them: each lock, read and write is one step.

/** Where the life of a container's ebb is. `reading` reads a record, `testing` then tests its lock. */
type Place =
  | "off"
  | "locking"
  | "saying started"
  | "waiting for the start"
  | "reading"
  | "testing"
  | "waiting until gone"
  | "running"
  | "saying ended"
  | "waiting for the end"
  | "telling"
  | "exiting"
  | "over";

interface Container {
  readonly place: Place;
  /** The exit codes of its app, life by life. */
  readonly codes: readonly number[];
  readonly isEnding: boolean;
  /** The records that it has read since it took the lock of the folder. */
  readonly seen: readonly Peer[];
  /** It is to wait until the sidecar is gone. */
  readonly mustWait: boolean;
  /** It has said that it ended for good, and has not joined again since: it may only have been killed. */
  readonly hasSaid: boolean;
}

/** A pod. Values alone, so that two of them can be compared. */
export interface Pod {
  readonly policy: RestartPolicy | undefined;
  readonly containers: readonly Container[];
  /** The texts of the records; undefined if there is no file. */
  readonly files: readonly (string | undefined)[];
  readonly locked: readonly boolean[];
  /** Who holds the lock of the folder; -1 if nobody does. */
  readonly folder: number;
  readonly crashesLeft: number;
  /** How often the sidecar was told to quit. */
  readonly told: number;
  /** Whether a container was killed since another one, or it, last took the lock at its end. */
  readonly isCutOff: boolean;
  /** The container that asked the sidecar to exit was killed, and has said `started` over it. */
  readonly isForgotten: boolean;
  readonly wrong: string;
}

/** Creates a pod whose containers have not started, with the exit codes of the lives that each has at most. */
export function podOf(policy: RestartPolicy | undefined, codes: readonly (readonly number[])[], crashes: number): Pod {
  const container: Omit<Container, "codes"> = {
    place: "off",
    isEnding: false,
    seen: [],
    mustWait: false,
    hasSaid: false,
  };
  return {
    policy,
    containers: codes.map((each) => ({ ...container, codes: each })),
    files: codes.map(() => undefined),
    locked: codes.map(() => false),
    folder: -1,
    crashesLeft: crashes,
    told: 0,
    isCutOff: false,
    isForgotten: false,
    wrong: "",
  };
}

/** Something that can happen next: a step of a container, or its end by SIGKILL. */
interface Move {
  readonly at: number;
  readonly isCrash: boolean;
}

/** Returns what can happen next. Nothing if all containers are over. */
export function movesOf(pod: Pod): readonly Move[] {
  return pod.containers.flatMap(({ place }, at) => {
    if (place === "over") return [];
    const isQuitting = quitterOf(othersOf(pod, at)) !== undefined;
    const isHeldUp =
      place === "waiting until gone" ? isQuitting : place.startsWith("waiting for") && pod.folder >= 0 && !isQuitting;
    const crash = place === "off" || pod.crashesLeft === 0 ? [] : [{ at, isCrash: true }];
    return isHeldUp ? crash : [{ at, isCrash: false }, ...crash];
  });
}

/** Returns the pod after a move. */
export function after(pod: Pod, { at, isCrash }: Move): Pod {
  if (isCrash) return crashed({ ...pod, crashesLeft: pod.crashesLeft - 1, isCutOff: true }, at);
  return stepped(pod, at, pod.containers[at] as Container);
}

function stepped(pod: Pod, at: number, own: Container): Pod {
  const restarting = { restartPolicy: pod.policy };
  const [code = 0] = own.codes;
  const restarts = whyRestarted(code, restarting) !== undefined;
  switch (own.place) {
    case "off":
      return set({ ...pod, files: replaced(pod.files, at, pod.files[at] ?? "") }, at, { place: "locking" });
    case "locking":
      return set({ ...pod, locked: replaced(pod.locked, at, true) }, at, {
        place: "saying started",
        mustWait: hadTold(pod, at),
      });
    case "saying started":
      if (hadTold(pod, at)) return wrote({ ...pod, isForgotten: true }, at, "started", true, "waiting for the start");
      return wrote(pod, at, "started", mayRestartAfterCrash(restarting), "waiting for the start");
    case "waiting for the start":
      if (pod.folder >= 0) return joined(pod, at, true);
      return set({ ...pod, folder: at }, at, { place: "reading", isEnding: false, seen: [] });
    case "waiting for the end":
      if (pod.folder >= 0) return set(pod, at, { place: "exiting" });
      return set({ ...pod, folder: at, isCutOff: false }, at, { place: "reading", isEnding: true, seen: [] });
    case "reading": {
      const text = pod.files[nextOf(pod, at, own)];
      const record = text === undefined ? "missing" : parseRecord(text);
      return set(pod, at, { place: "testing", seen: [...own.seen, { name: "", record, isLocked: false }] });
    }
    case "testing": {
      const seen = own.seen.with(-1, {
        ...(own.seen.at(-1) as Peer),
        isLocked: pod.locked[nextOf(pod, at, own)] === true,
      });
      if (seen.length < pod.containers.length - 1) return set(pod, at, { place: "reading", seen });
      return own.isEnding ? decided(pod, at, seen) : joined(pod, at, own.mustWait || haveToldToQuit(seen));
    }
    case "waiting until gone":
      return set(pod, at, { place: "running", hasSaid: false });
    case "running":
      return set(pod, at, { place: "saying ended", mustWait: false });
    case "saying ended":
      return set(wrote(pod, at, "ended", restarts, restarts ? "exiting" : "waiting for the end"), at, {
        hasSaid: !restarts,
      });
    case "telling":
      return set({ ...pod, told: pod.told + 1, wrong: pod.wrong || needs(pod, at) }, at, { place: "exiting" });
    default:
      return gone(pod, at, restarts);
  }
}

/** The other container whose record is read now. */
function nextOf(pod: Pod, at: number, { seen, place }: Container): number {
  const done = place === "testing" ? seen.length - 1 : seen.length;
  return pod.containers.map((_, other) => other).filter((other) => other !== at)[done] as number;
}

/** The other containers as they are now. */
function othersOf({ files, locked }: Pod, at: number): readonly Peer[] {
  const peers = files.map((text = "", other) => ({
    name: `${other}`,
    record: parseRecord(text),
    isLocked: locked[other] === true,
  }));
  return peers.filter((_, other) => other !== at);
}

function hadTold(pod: Pod, at: number): boolean {
  return haveToldToQuit([{ name: "", record: parseRecord(pod.files[at] ?? ""), isLocked: true }]);
}

function joined(pod: Pod, at: number, mustWait: boolean): Pod {
  const wrong =
    pod.told > 0 && !mustWait && !pod.isForgotten ? "started the app beside a sidecar that was told to quit" : "";
  const next = { ...pod, folder: pod.folder === at ? -1 : pod.folder, wrong: pod.wrong || wrong };
  return set(next, at, { place: "waiting until gone", seen: [] });
}

function decided(pod: Pod, at: number, seen: readonly Peer[]): Pod {
  if (whyNotLast(seen) !== undefined) return set({ ...pod, folder: -1 }, at, { place: "exiting", seen: [] });
  return set(wrote(pod, at, "quitting", false, "telling"), at, { seen: [] });
}

/**
 * Says which other container still needs the sidecar that this one tells to quit now; empty if none does. One that was
 * killed after it had said that it ended does not count: it sees `quitting` before its app starts again.
 */
function needs(pod: Pod, at: number): string {
  const other = pod.containers.findIndex(({ place, hasSaid }, other) => other !== at && place !== "over" && !hasSaid);
  return other < 0
    ? ""
    : `container ${at} asked the sidecar to exit while container ${other} was ${pod.containers[other]?.place}`;
}

function crashed(pod: Pod, at: number): Pod {
  return gone(pod, at, whyRestarted(137, { restartPolicy: pod.policy }) !== undefined);
}

/** A container has ended: its locks are free, and the kubelet starts it again, or not. */
function gone(pod: Pod, at: number, restarts: boolean): Pod {
  const [, ...codes] = pod.containers[at]?.codes ?? [];
  const free = { ...pod, locked: replaced(pod.locked, at, false), folder: pod.folder === at ? -1 : pod.folder };
  return set(free, at, { place: restarts ? "off" : "over", codes, seen: [], mustWait: false, isEnding: false });
}

function wrote(pod: Pod, at: number, state: "started" | "ended" | "quitting", restarts: boolean, place: Place): Pod {
  return set({ ...pod, files: replaced(pod.files, at, formatRecord({ state, restarts })) }, at, { place });
}

function set(pod: Pod, at: number, change: Partial<Container>): Pod {
  return { ...pod, containers: replaced(pod.containers, at, { ...(pod.containers[at] as Container), ...change }) };
}

function replaced<T>(list: readonly T[], at: number, item: T): readonly T[] {
  return list.with(at, item);
}

/** Reports whether a container was killed for good before it had said that it started: the others cannot know. */
export function hasSilentDeath({ containers, files }: Pod): boolean {
  return containers.some(({ place }, at) => place === "over" && parseRecord(files[at] ?? "") === undefined);
}

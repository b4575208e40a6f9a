import type { Settings } from "../../shared/cli/core/options.ts";
import { APPS_FOLDER } from "../../shared/core/peer-volume.ts";
import { mayRestartAfterCrash, whyRestarted } from "../../shared/core/restart.ts";
import { ERRNO, errnoText } from "../../shared/native/errno.ts";
import { native } from "../../shared/native/native.ts";
import { findSidecars } from "../find/find.ts";
import { LOOPBACK_MS, probeOnce } from "../probe/ready.ts";
import {
  formatRecord,
  haveToldToQuit,
  ownRecord,
  type Peer,
  type PeerRecord,
  parseRecord,
  quitterOf,
  RECORD_BYTES,
  recordOf,
  whyNotLast,
} from "./core/peers.ts";
import type { SidecarContext } from "./sidecars.ts";

/** The part of a run that decides which of several app containers quits the sidecars. */
interface PeerRun extends SidecarContext {
  readonly settings: SidecarContext["settings"] & Settings<"lastOf" | "restartPolicy" | "restartCodes">;
  readonly stopWaiting: AbortController;
}

/**
 * This container among the app containers of its pod: the descriptor of its record, whose lock it holds; or why the
 * others cannot know of it, and it not of them.
 */
export type Membership =
  /** `hasQuit`: this container's former ebb has told the sidecars to quit. */
  { readonly descriptor: number; readonly hasQuit: boolean } | { readonly problem: string };

/**
 * How long ebb tries to take a lock, at the start and at the end. Who has it keeps it for milliseconds, but for the last
 * one while it quits the sidecars. On a node that is short of processors these may be seconds; at the end, giving up
 * keeps the sidecars for ever.
 */
const [START_MS, END_MS] = [3000, 10_000];
const RETRY_MS = 5;

/**
 * Tells the other app containers that this one has started. If one of them has told the sidecars to quit, waits until
 * they are gone, at most `--quit-timeout`. Never rejects. Logs a warning if the containers cannot know of each other.
 */
export async function join(run: PeerRun): Promise<Membership> {
  const membership = await enter(run);
  if ("problem" in membership) {
    warn(run, membership.problem);
    return membership;
  }
  const others = () => readPeers(run.settings);
  const lock = await lockWithin(START_MS, APPS_FOLDER, { isEnough: () => quitterOf(others()) !== undefined });
  const mustWait = membership.hasQuit || haveToldToQuit(others()); // also without the lock, what they say is true
  if ("descriptor" in lock) native.unlock(lock.descriptor);
  if (mustWait) await untilGone(run);
  return membership;
}

function warn({ log }: PeerRun, reason: string): void {
  const how = "mount the volume as `ebb help several-apps` shows, or let native sidecars or ebb reaper end the pod";
  log.warn({ reason, how }, "cannot tell which app container is the last: keeping the sidecars");
}

/**
 * Takes the lock of this container's own record, checks that the others see it in their folder, and writes into the record
 * that the app starts. Resolves with the membership, or with what went wrong.
 */
async function enter({ settings }: PeerRun): Promise<Membership> {
  const [name = ""] = settings.lastOf ?? [];
  const lock = await lockWithin(START_MS, ownRecord(), { isOwn: true });
  if ("problem" in lock) return lock;
  const { descriptor } = lock;
  const own = readPeer(name, descriptor);
  if (!own.isLocked) return { problem: notSeen(name, own.error) };
  const hasQuit = haveToldToQuit([own]); // what the record says of this container's former ebb
  const problem = write(descriptor, { state: "started", restarts: mayRestartAfterCrash(settings) });
  return problem === undefined ? { descriptor, hasQuit } : { problem };
}

/** What readRecord adds to its result if another holds the lock (native.h). */
const LOCKED = 0x10000;

/** Says why the others do not see this container's lock in their folder, by the error that reading it there has. */
function notSeen(name: string, error: number): string {
  const path = recordOf(name);
  if (error === 0) return `${path}: its lock is not seen there`;
  const isAnother = error === ERRNO.EXDEV || error === ERRNO.ENOENT;
  return isAnother ? `${path} is not ${ownRecord()}: is ${name} this container?` : `${path}: ${errnoText(error)}`;
}

/** A lock that is held, by its descriptor; or why not: the path, and what is wrong with it. */
type Lock = { readonly descriptor: number } | { readonly problem: string };

interface LockOptions {
  /** Whether the file is this container's own record, which is created if it is missing. */
  readonly isOwn?: true;
  /** Says that the lock is no longer needed. */
  readonly isEnough?: () => boolean;
}

/** Takes a lock. Tries again while another holds it, for `ms`, or until `isEnough`. */
async function lockWithin(ms: number, path: string, { isOwn, isEnough }: LockOptions): Promise<Lock> {
  const end = performance.now() + ms;
  for (;;) {
    const descriptor = native.lock(path, isOwn === true ? 1 : 0);
    if (descriptor >= 0) return { descriptor };
    const isHeld = descriptor === -ERRNO.EAGAIN;
    if (!isHeld || performance.now() > end || isEnough?.() === true)
      return { problem: `${path}: ${isHeld ? "another process holds the lock" : errnoText(-descriptor)}` };
    await Bun.sleep(RETRY_MS);
  }
}

/** Writes this container's record. Returns why it cannot; undefined if it has. */
function write(descriptor: number, record: PeerRecord): string | undefined {
  const written = native.writeRecord(descriptor, new TextEncoder().encode(formatRecord(record)));
  return written < 0 ? `${ownRecord()}: ${errnoText(-written)}` : undefined;
}

function readPeers({ lastOf: [, ...others] = [] }: Settings<"lastOf">): readonly Peer[] {
  return others.map((name) => readPeer(name));
}

/** Reads the record of a container, which must be the file of `own` if that is a descriptor. `error` is 0 or an errno. */
function readPeer(name: string, own = -1): Peer & { readonly error: number } {
  const bytes = new Uint8Array(RECORD_BYTES);
  const length = native.readRecord(recordOf(name), bytes, own);
  const read = length < 0 ? undefined : parseRecord(new TextDecoder().decode(bytes)); // without its lock it says nothing
  const record = length === -ERRNO.ENOENT ? "missing" : read;
  return { name, record, isLocked: length >= LOCKED, error: Math.max(0, -length) };
}

/** Resolves once a sidecar that ebb would quit is not ready any more, or `--quit-timeout` is over. */
async function untilGone({ settings, env, log, stopWaiting: { signal } }: PeerRun): Promise<void> {
  log.info({ atMostMs: settings.quitTimeout }, "asked the sidecars to exit: waiting until they are gone");
  const end = performance.now() + settings.quitTimeout;
  const { sidecars } = await findSidecars(settings, { env, forMs: 0, signal, log });
  const probes = sidecars.flatMap(({ isNative, ready }) => (isNative ? [] : ready));
  while (probes.length > 0 && performance.now() < end && !signal.aborted) {
    for (const probe of probes) if (!(await probeOnce(probe, LOOPBACK_MS)).ready) return;
    await Bun.sleep(RETRY_MS);
  }
}

/**
 * Tells the other app containers that this one has ended, with the exit code that its kubelet sees. Resolves with why
 * the sidecars are kept: `stay`, or what the others still need; undefined if this one is to tell them to quit. The lock
 * is then held until ebb ends. Never rejects.
 */
export async function leave(
  run: PeerRun,
  membership: Membership,
  { exitCode, stay }: { readonly exitCode: number; readonly stay: string | undefined },
): Promise<string | undefined> {
  if ("problem" in membership) return stay ?? `--last-of: ${membership.problem}`;
  const { settings } = run;
  const { descriptor } = membership;
  const keep = (reason: string): string => {
    warn(run, reason);
    return `--last-of: ${reason}`;
  };
  const restarts = whyRestarted(exitCode, settings) !== undefined;
  const problem = write(descriptor, { state: "ended", restarts });
  if (problem !== undefined) return keep(problem);
  if (stay !== undefined) return stay;
  const quitter = () => quitterOf(readPeers(settings));
  const lock = await lockWithin(END_MS, APPS_FOLDER, { isEnough: () => quitter() !== undefined });
  if ("problem" in lock) {
    const other = quitter();
    return other === undefined ? keep(lock.problem) : `--last-of: ${other} shuts down the sidecars`;
  }
  const reason = whyNotLast(readPeers(settings));
  if (reason === undefined) write(descriptor, { state: "quitting", restarts });
  else native.unlock(lock.descriptor);
  return reason;
}

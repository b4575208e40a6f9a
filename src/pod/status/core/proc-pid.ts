import { options } from "../../../shared/cli/core/options.ts";
import { redactUrls } from "../../../shared/core/redact.ts";
import { kindOf, sidecarNames } from "../../../shared/sidecars/core/registry.ts";
import { type ProcessTable, type Stat, ZOMBIE } from "../../process/core/process.ts";
import type { ProcessesStatus, ProcessStatus, Zombie } from "./snapshot.ts";

/** A clock tick: USER_HZ is 100 on every architecture but alpha and ia64 (linux include/asm-generic/param.h). */
const TICK_MS = 10;

const stateNames: Readonly<Record<string, string>> = {
  R: "running",
  S: "sleeping",
  D: "uninterruptible",
  T: "stopped",
  t: "traced",
  Z: "zombie",
  I: "idle",
  X: "dead",
};

/**
 * Summarises the processes for `ebb status`: PID 1, the command that ebb runs if ebb is PID 1, zombies, whether the app
 * can be seen and whether it has ended. In command lines it redacts URLs, and the secrets in ebb's own flags.
 */
export function processesOf(table: ProcessTable): ProcessesStatus {
  const { processes, unreadable, self, isInitOwn } = table;
  const init = processes.find(({ pid }) => pid === 1);
  const hasName = init !== undefined && init.comm === processes.find(({ pid }) => pid === self)?.comm;
  const initIsEbb = isInitOwn === true || hasName;
  const child = initIsEbb && self !== 1 ? oldestChildOf(1, processes, self) : undefined;
  const shared = isShared(table, init);
  return {
    count: processes.length,
    unreadable,
    shared,
    init: init === undefined ? null : processStatus(init, table, initIsEbb),
    initIsEbb,
    child: child === undefined ? null : processStatus(child, table, false),
    zombies: processes.filter(({ state }) => state === ZOMBIE).map(zombieOf),
    appEnded: shared === true && init?.comm === PAUSE ? isAppGone(processes, self) : null,
    appSeen: self !== 1 && !areSidecars(othersOf(processes, self)),
  };
}

/** The names of all sidecars' programs. */
const programs: readonly string[] = sidecarNames.flatMap((name) => kindOf(name).programs);

/**
 * The program that holds a pod's namespaces, and is PID 1 of a pod with shareProcessNamespace (kubernetes build/pause).
 */
const PAUSE = "pause";

function isShared({ ownCgroup, initCgroup, self }: ProcessTable, init: Stat | undefined): boolean | null {
  if (init?.comm === PAUSE) return true;
  if (self === 1) return false;
  return ownCgroup === undefined || initCgroup === undefined ? null : ownCgroup !== initCgroup;
}

/**
 * Returns the oldest child of a process but ebb (`self`): ebb starts its command before it can get another child, such
 * as an orphan.
 */
function oldestChildOf(parent: number, processes: readonly Stat[], self: number): Stat | undefined {
  const children = processes.filter((process) => process.parent === parent && process.pid !== self);
  return children.toSorted((a, b) => a.startTicks - b.startTicks || a.pid - b.pid)[0];
}

function processStatus(
  { pid, comm, state, startTicks }: Stat,
  { uptimeMs, commandOf }: ProcessTable,
  isEbb: boolean,
): ProcessStatus {
  const startMs = startTicks * TICK_MS;
  // if uptime is the container's own (lxcfs), a start since boot tells no age
  const ageMs = uptimeMs === undefined || startMs > uptimeMs ? null : uptimeMs - startMs;
  const words = commandOf(pid);
  const command = isEbb ? shownCall(words) : words.map(redactUrls);
  return { pid, name: comm, command, state: stateNames[state] ?? state, ageMs };
}

/** Returns ebb's own command line without the secrets in its flags. The command after `--` loses those in its URLs. */
function shownCall(words: readonly string[]): readonly string[] {
  const end = words.indexOf("--");
  let before = "";
  return words.map((word, at) => {
    const isOwn = end < 0 || at < end;
    const equals = word.indexOf("=");
    const [flag, value] = equals < 0 ? [before, word] : [word.slice(0, equals), word.slice(equals + 1)];
    before = equals < 0 ? word : "";
    const option = Object.values(options).find((each) => isOwn && flag === `--${each.flag}`);
    if (option?.value === undefined) return redactUrls(word);
    return `${equals < 0 ? "" : `${flag}=`}${option.shown(value)}`;
  });
}

function zombieOf({ pid, comm, parent }: Stat): Zombie {
  return { pid, name: comm, parent };
}

/** Reports whether only sidecars run beside PID 1, ebb itself and what has started ebb. */
function isAppGone(processes: readonly Stat[], self: number): boolean {
  return areSidecars(othersOf(processes, self).filter(({ pid }) => pid !== 1));
}

/** Returns the processes without zombies, ebb itself and its ancestors. PID 1 is among them. */
function othersOf(processes: readonly Stat[], self: number): readonly Stat[] {
  const own = ancestorsOf(self, processes);
  return processes.filter(({ pid, state }) => !own.has(pid) && state !== ZOMBIE);
}

function areSidecars(processes: readonly Stat[]): boolean {
  return processes.length > 0 && processes.every(({ comm }) => programs.includes(comm));
}

function ancestorsOf(self: number, processes: readonly Stat[]): ReadonlySet<number> {
  const parents = new Map(processes.map(({ pid, parent }) => [pid, parent]));
  const found = new Set<number>();
  for (let pid = self; pid > 1 && !found.has(pid); pid = parents.get(pid) ?? 0) found.add(pid);
  return found;
}

/**
 * What an `ebb run` announces while it lives: it `owns` the sidecars of its container; its command `runs`; the drain is
 * over, and its command has got the stop signal (`drained`).
 */
export type Stage = "owns" | "runs" | "drained";

/** An `ebb run`, as other containers of its pod see it. Neither half is unique: PIDs repeat in each PID namespace. */
interface Announcer {
  /** Its container, among those that run now (`native.container`). */
  readonly container: number;
  readonly pid: number;
}

export interface Announcement extends Announcer {
  readonly stage: Stage;
  /** The name of the command; empty but for `runs`. */
  readonly program: string;
}

const LONGEST_PROGRAM = 40;

/** Returns the name of the abstract Unix socket that announces this. What a shell would quote in a program's name is `_`. */
export function socketOf({ stage, container, pid, program }: Announcement): string {
  return `ebb/${stage}/${container}/${pid}/${program.replace(/[^\w.-]/g, "_").slice(0, LONGEST_PROGRAM)}`;
}

/** Finds the announcements in the text of /proc/net/unix. */
function announcementsIn(table: string): readonly Announcement[] {
  const rows = table.matchAll(/ @ebb\/(owns|runs|drained)\/(\d{1,15})\/(\d{1,10})\/([\w.-]*)$/gm);
  return Array.from(rows, ([, stage, container, pid, program = ""]) => {
    return { stage: stage as Stage, container: Number(container), pid: Number(pid), program };
  });
}

/** Returns the `ebb run`s of other containers whose commands run, and whether all of them have drained. */
export function othersIn(table: string, container: number) {
  const all = announcementsIn(table).filter((one) => one.container !== container);
  const running = all.filter(({ stage }) => stage === "runs");
  const hasDrained = (one: Announcer): boolean =>
    all.some(({ stage, container: its, pid }) => stage === "drained" && its === one.container && pid === one.pid);
  return { running, haveDrained: running.every(hasDrained) };
}

/** Reports whether the container's first process is an `ebb run` that owns its sidecars. */
export function isOwned(table: string, container: number): boolean {
  return announcementsIn(table).some((one) => one.stage === "owns" && one.container === container && one.pid === 1);
}

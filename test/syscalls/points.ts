import { constants } from "node:os";
import { syscallNumbers } from "../seccomp/filter.ts";

const roles = ["main", "thread", "child"] as const;
export type Role = (typeof roles)[number];

/** A call that is to fail once. */
export interface Point {
  /** Who makes it: ebb's main thread, another of its threads, or its child. */
  readonly role: Role;
  /** The call's name. */
  readonly call: string;
  /** Which of the role's calls of that name it is, from 1 on. */
  readonly count: number;
  /** The name of the error: `ENOMEM`. */
  readonly error: string;
}

/** The number of times that a role makes a call. */
export interface Made {
  readonly role: Role;
  readonly call: string;
  readonly count: number;
}

/** The numbers of this machine's system calls, by name. */
export const callNumbers = syscallNumbers();
const callNames = new Map([...callNumbers].map(([name, number]) => [number, name]));

/** Returns the name of a system call, or its number as text if it has none. */
export function callName(number: number): string {
  return callNames.get(number) ?? String(number);
}

/** Returns the number of an error. */
export function errorNumber(error: string): number {
  return constants.errno[error as keyof typeof constants.errno];
}

/**
 * The errors with which a call can fail: of its own, for lack of memory or descriptors, or by a container's seccomp
 * profile.
 */
const refused = ["EPERM", "ENOSYS"];
const kinds: readonly (readonly [calls: string, errors: readonly string[]])[] = [
  ["read readv pread64", ["EAGAIN", "EINTR", "EIO"]],
  ["write writev pwrite64", ["EAGAIN", "EINTR", "EIO", "EPIPE", "ENOSPC"]],
  ["open openat", ["EACCES", "EINTR", "EMFILE", "ENFILE", "ENOENT", "ENOMEM"]],
  ["close", ["EINTR", "EIO"]],
  ["pipe2 eventfd2 epoll_create1", ["EMFILE", "ENFILE", "ENOMEM"]],
  ["socket", ["EMFILE", "ENOBUFS", "ENOMEM", "EPERM", "EAFNOSUPPORT"]],
  ["connect", ["EAGAIN", "ECONNREFUSED", "EINTR", "ENETUNREACH", "EPERM", "ETIMEDOUT"]],
  ["sendto sendmsg", ["EAGAIN", "ECONNRESET", "EINTR", "ENOBUFS", "EPIPE"]],
  ["recvfrom recvmsg", ["EAGAIN", "ECONNRESET", "EINTR", "ENOMEM"]],
  ["getsockopt setsockopt getsockname getpeername shutdown", ["ENOBUFS", "ENOTCONN", "EPERM"]],
  ["poll ppoll epoll_wait epoll_pwait epoll_pwait2", ["EINTR", "ENOMEM", "ENOSYS"]],
  ["epoll_ctl", ["ENOMEM", "ENOSPC", "EPERM"]],
  ["mmap mremap brk", ["EAGAIN", "ENOMEM"]],
  ["mprotect", ["EACCES", "ENOMEM"]],
  ["munmap", ["ENOMEM"]],
  ["madvise", ["EAGAIN", "EINVAL", "ENOMEM"]],
  ["vfork clone", ["EAGAIN", "ENOMEM", "EPERM"]],
  ["execve", ["E2BIG", "EACCES", "EAGAIN", "EIO", "EMFILE", "ENOENT", "ENOMEM", "ETXTBSY"]],
  ["wait4 waitid", ["EINTR"]],
  ["kill tkill tgkill", ["EPERM"]],
  ["futex", ["EAGAIN", "EINTR", "ENOSYS"]],
  ["nanosleep clock_nanosleep", ["EINTR"]],
  ["setpgid", ["EACCES", "EPERM"]],
  ["flock", ["EAGAIN", "EINTR", "ENOLCK", "EPERM"]],
  ["fcntl", ["EINTR", "EMFILE", "ENOMEM"]],
  ["ioctl", ["EINTR", "EIO", "ENOTTY"]],
  ["getcwd", ["ENOENT", "ENOMEM"]],
  ["getdents64", ["EIO", "ENOENT"]],
  [
    "stat fstat newfstatat lstat statx access faccessat faccessat2 readlink readlinkat",
    ["EACCES", "EIO", "ENOMEM", "ENOSYS"],
  ],
];
const errorsOf = new Map(kinds.flatMap(([calls, errors]) => calls.split(" ").map((call) => [call, errors] as const)));

/**
 * The calls that cannot fail, or whose failure means nothing: the process is over, or the kernel cannot refuse them.
 */
const infallible = new Set([
  "exit",
  "exit_group",
  "rt_sigreturn",
  "getpid",
  "gettid",
  "getppid",
  "getuid",
  "geteuid",
  "getgid",
  "getegid",
  "restart_syscall",
]);

/**
 * Returns every call that was made, with every error that it can have. Of a call that is made often, only some times.
 */
export function pointsOf(made: readonly Made[]): readonly Point[] {
  return made
    .filter(({ call }) => !infallible.has(call))
    .flatMap(({ role, call, count }) =>
      timesOf(count).flatMap((time) =>
        (errorsOf.get(call) ?? refused).map((error) => ({ role, call, count: time, error })),
      ),
    );
}

const EACH = 24;

/** Chooses times: the first 24, then ever fewer (each 1.2 times the one before), and the last. */
function timesOf(count: number): readonly number[] {
  const times = Array.from({ length: Math.min(count, EACH) }, (_, index) => index + 1);
  for (let at = EACH * 1.2; at < count; at *= 1.2) times.push(Math.round(at));
  return times.at(-1) === count ? times : [...times, count];
}

/** Returns a point as text: `main read 3 EINTR`. */
export function describePoint({ role, call, count, error }: Point): string {
  return `${role} ${call} ${count} ${error}`;
}

/** The calls whose failure has once cost the app: of these each time is a point. */
const costly = new Set(["main wait4", "main getdents64", "main flock", "child rt_sigprocmask"]);

/**
 * Returns few points: for each call its last time with one error, another one from call to call, and all points of
 * `costly` calls. Calls of libc's own start, and kill, are left out.
 */
export function fewPointsOf(made: readonly Made[]): readonly Point[] {
  const all = pointsOf(made).filter(({ call }) => call !== "kill" && call !== "arch_prctl");
  const few = made.flatMap(({ role, call, count }, index) => {
    const points = all.filter((point) => point.role === role && point.call === call && point.count === count);
    return points.length === 0 ? [] : [points[index % points.length] as Point];
  });
  const others = all.filter((point) => costly.has(`${point.role} ${point.call}`) && !few.includes(point));
  return [...few, ...others];
}

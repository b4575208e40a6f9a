import { constants } from "node:os";
import { syscallNumbers } from "../seccomp/filter.ts";

export const roles = ["main", "thread", "child"] as const;
export type Role = (typeof roles)[number];

/** One call that fails once: that of this role, the so manieth of its kind. */
export interface Point {
  readonly role: Role;
  readonly call: string;
  readonly count: number;
  readonly error: string;
}

/** How often a role makes a call. */
export interface Made {
  readonly role: Role;
  readonly call: string;
  readonly count: number;
}

export const callNumbers = syscallNumbers();
const callNames = new Map([...callNumbers].map(([name, number]) => [number, name]));

export function callName(number: number): string {
  return callNames.get(number) ?? String(number);
}

export function errorNumber(error: string): number {
  return constants.errno[error as keyof typeof constants.errno];
}

/** What a call can fail with: by itself, for want of memory or descriptors, or by a container's seccomp profile. */
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

/** Those that cannot fail, or whose failing means nothing: the process is over, or the kernel has no way to refuse. */
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

/** Every call that was made, with every error that it can have; of one that is made very often, these times. */
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

/** The first ones each, then ever fewer, and the last. */
function timesOf(count: number): readonly number[] {
  const times = Array.from({ length: Math.min(count, EACH) }, (_, index) => index + 1);
  for (let at = EACH * 1.2; at < count; at *= 1.2) times.push(Math.round(at));
  return times.at(-1) === count ? times : [...times, count];
}

export function describePoint({ role, call, count, error }: Point): string {
  return `${role} ${call} ${count} ${error}`;
}

/** Calls whose failing has once cost the app: of these every time. */
const costly = new Set(["main wait4", "main getdents64", "child rt_sigprocmask"]);

/** For each call one error, which differs from call to call, at its last time; no libc's own start, no app that must not be signalled. */
export function fewPointsOf(made: readonly Made[]): readonly Point[] {
  const all = pointsOf(made).filter(({ call }) => call !== "kill" && call !== "arch_prctl");
  const few = made.flatMap(({ role, call, count }, index) => {
    const points = all.filter((point) => point.role === role && point.call === call && point.count === count);
    return points.length === 0 ? [] : [points[index % points.length] as Point];
  });
  const others = all.filter((point) => costly.has(`${point.role} ${point.call}`) && !few.includes(point));
  return [...few, ...others];
}

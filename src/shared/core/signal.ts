/** Linux signal numbers, the same on x86-64 and arm64 (signal(7)). */
const numbers = {
  HUP: 1,
  INT: 2,
  QUIT: 3,
  ILL: 4,
  TRAP: 5,
  ABRT: 6,
  BUS: 7,
  FPE: 8,
  KILL: 9,
  USR1: 10,
  SEGV: 11,
  USR2: 12,
  PIPE: 13,
  ALRM: 14,
  TERM: 15,
  STKFLT: 16,
  CHLD: 17,
  CONT: 18,
  STOP: 19,
  TSTP: 20,
  TTIN: 21,
  TTOU: 22,
  URG: 23,
  XCPU: 24,
  XFSZ: 25,
  VTALRM: 26,
  PROF: 27,
  WINCH: 28,
  IO: 29,
  PWR: 30,
  SYS: 31,
} as const;

/** The number of a Linux signal, 1 to 64. */
export type SignalNumber = number;

/** Signal numbers by name: `SIG.TERM` is 15. */
export const SIG = numbers;

/** Returns a signal's name, such as `SIGTERM` for 15, or `signal 40` for a number without a name. */
export function signalName(signal: SignalNumber): string {
  const named = Object.entries(numbers).find(([, number]) => number === signal);
  return named === undefined ? `signal ${signal}` : `SIG${named[0]}`;
}

/** The first and the last real-time signal, as shells and container runtimes count them (`RTMIN+3`). */
const RTMIN = 34;
const RTMAX = 64;

/** Parses `SIGTERM`, `TERM`, `term`, `15` (1 to 64), `RTMIN+3` or `RTMAX-1`. Returns undefined for anything else. */
export function parseSignal(text: string): SignalNumber | undefined {
  if (/^\d+$/.test(text)) return Number(text) >= 1 && Number(text) <= RTMAX ? Number(text) : undefined;
  const name = text.toUpperCase().replace(/^SIG/, "");
  const [, limit, offset = "0"] = /^(RTMIN(?=\+|$)|RTMAX(?=-|$))(?:[+-](\d{1,2}))?$/.exec(name) ?? [];
  const realTime = limit === "RTMIN" ? RTMIN + Number(offset) : RTMAX - Number(offset);
  if (limit !== undefined) return realTime >= RTMIN && realTime <= RTMAX ? realTime : undefined;
  return Object.hasOwn(numbers, name) ? numbers[name as keyof typeof numbers] : undefined;
}

/** The default of `--stop-signal`, the signals that ask an app to stop: those that the kubelet and Ctrl-C send. */
export const usualStops: readonly SignalNumber[] = [SIG.TERM, SIG.INT];

/**
 * Reports whether a signal ends a wait: TERM, INT and QUIT do. Others mean something only to the app, which is not
 * there yet.
 */
export function endsWait(signal: SignalNumber): boolean {
  return signal === SIG.QUIT || usualStops.includes(signal);
}

/**
 * Reports whether a signal ends a command that has no app to pass it on to: TERM, INT, QUIT, or HUP (the terminal is
 * gone).
 */
export function endsCommand(signal: SignalNumber): boolean {
  return signal === SIG.HUP || endsWait(signal);
}

/** Reports whether a signal suspends a process until SIGCONT: STOP, TSTP, TTIN or TTOU. */
export function suspends(signal: SignalNumber): boolean {
  return signal >= SIG.STOP && signal <= SIG.TTOU;
}

/** The signals that ebb does not pass on. */
const kept: readonly SignalNumber[] = [SIG.KILL, SIG.STOP, SIG.CHLD];

/**
 * Reports whether ebb catches a signal and passes it on: any but KILL and STOP, which no process can catch, and CHLD.
 *
 * Signals of faults, and those that the runtime sends itself, are passed on if another process sent them, TTIN and TTOU
 * if ebb has no terminal.
 */
export function isForwarded(signal: SignalNumber): boolean {
  return !kept.includes(signal);
}

/** All signals for which `isForwarded` holds, real-time signals included. */
export const forwarded: readonly SignalNumber[] = /* @__PURE__ */ Array.from({ length: 64 }, (_, at) => at + 1).filter(
  isForwarded,
);

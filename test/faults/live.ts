import { readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { collect, ebbPath, temporaryFolder, until } from "../harness/ebb.ts";
import { catches, childrenOf } from "../harness/processes.ts";
import { within } from "../harness/time.ts";
import { callLine, NATIVE } from "./call.ts";
import { now } from "./clock.ts";
import { killBy } from "./kill.ts";
import type { Life, Witness } from "./oracle/witness.ts";
import { nextAddress, type Place } from "./place.ts";
import type { Cue, Plan } from "./plan/planned.ts";
import { type DoorChange, type Request, startProxy } from "./proxy.ts";

/** A signal that ebb was sent. */
interface Sent {
  readonly at: number;
  readonly signal: number;
}

/** All that was seen of one run. Times are milliseconds of CLOCK_MONOTONIC. */
export interface Seen {
  readonly startedAt: number;
  readonly endedAt: number;
  /** ebb's pid, as this process sees it. */
  readonly pid: number;
  /** The exit code as a shell reports it; undefined if ebb hung and was killed. */
  readonly code: number | undefined;
  /** The signal that ended ebb itself; null if none did. */
  readonly signal: string | number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The requests to the proxy. */
  readonly requests: readonly Request[];
  /** The states of the proxy's door. */
  readonly doors: readonly DoorChange[];
  /** The application's processes. */
  readonly lives: readonly Life[];
  /** The signals that ebb was sent. */
  readonly sent: readonly Sent[];
  /** The most descriptors that ebb had open, looking every 60 ms. */
  readonly mostDescriptors: number;
  /** The most connections to the proxy at the same time. */
  readonly mostConnections: number;
  /** The first words of the application's processes that still ran when ebb had ended. */
  readonly left: readonly string[];
  /** The milliseconds that this machine stood still. */
  readonly stalledMs: number;
}

/** What runs share. */
export interface Stage {
  /** The path of the application. */
  readonly app: string;
  readonly witness: Witness;
  readonly stalls: { within(from: number, to: number): number };
}

const SAMPLE_MS = 60;
let runs = 0;

/** Runs the real ebb by a plan, and resolves with what happened. */
export async function live(plan: Plan, stage: Stage): Promise<Seen> {
  using folder = temporaryFolder();
  const run = `r${runs++}`;
  const place: Place = plan.isUnix ? { unix: `${folder.path}/admin.sock` } : nextAddress();
  const cues = createCues();
  const lives = stage.witness.listen(run, (life, { what }) => {
    const [word = ""] = what.split(" ");
    if (life !== lives[0]) return;
    if (word === "start") cues.call("app");
    if (word === "noting" || word === "pausing") cues.call(word);
    if (word === "exit" || word === "raise") cues.call("exit");
  });
  await using proxy = startProxy(plan.proxy, place, (endpoint) => {
    if (endpoint === "fail" || endpoint === "drain") cues.call("drain");
    if (endpoint === "quit") cues.call("quit");
  });
  const startedAt = now();
  const annotations = join(folder.path, "annotations");
  if (plan.isNative) writeFileSync(annotations, NATIVE);
  const call = callLine(plan, { place, app: [stage.app, stage.witness.path, run], annotations });
  const ebb = spawn(plan, call, stage.app);
  const stdout = collect(ebb.stdout);
  const stderr = collect(ebb.stderr);
  const isRunning = () => ebb.exitCode === null && ebb.signalCode === null;
  const pid = await pidOf(ebb.pid, plan, isRunning);
  const sent: Sent[] = [];
  for (const { cue, afterMs, signal } of plan.signals) {
    cues.when(cue, afterMs, () => {
      if (!isRunning()) return;
      const at = now();
      if (killBy(pid, signal)) sent.push({ at, signal });
    });
  }
  cues.call("ebb");
  const sampler = sampleDescriptors(pid, isRunning);
  const isKilled = await endOf(ebb, boundOf(plan), () => stage.stalls.within(startedAt, now()));
  const endedAt = now();
  cues.end();
  const mostDescriptors = sampler();
  await within(3000, Promise.all([stdout.done, stderr.done]));
  const stalledMs = stage.stalls.within(startedAt, now());
  await stage.witness.settled();
  const left = await leftOf(lives, stage.app);
  await proxy.settled();
  stage.witness.forget(run);
  return {
    ...{ startedAt, endedAt, pid, signal: ebb.signalCode, stdout: stdout.text(), stderr: stderr.text() },
    code: isKilled ? undefined : await ebb.exited,
    ...{ requests: proxy.requests, doors: proxy.doors, lives, sent, mostDescriptors, left, stalledMs },
    mostConnections: proxy.mostConnections(),
  };
}

type Ebb = ReturnType<typeof spawn>;

function spawn({ isPid1, blocked }: Plan, args: readonly string[], app: string) {
  const through = isPid1 ? ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"] : [];
  if (blocked.length > 0) through.push(app, "--block", blocked.join(","));
  const env = { PATH: process.env.PATH ?? "" };
  return Bun.spawn([...through, ebbPath, ...args], { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
}

/**
 * Resolves with ebb's pid once it is ebb, so that it loses no signal and has only its own descriptors, or has ended.
 */
async function pidOf(started: number, { isPid1 }: Plan, isRunning: () => boolean): Promise<number> {
  const isThere = (pid: number) => {
    try {
      return catches(pid, 15);
    } catch {
      return false; // it has ended
    }
  };
  return await until(
    "ebb is there for signals, or has ended",
    () => {
      if (!isRunning()) return started;
      const pid = isPid1 ? (childrenOf(started)[0] ?? 0) : started;
      return pid > 0 && isThere(pid) && pid;
    },
    PATIENCE_MS,
  );
}

/** The time, in ms, beyond all that was planned; it is longer than the application's own patience. */
const PATIENCE_MS = 25_000;

/** Returns the milliseconds after which ebb is taken to hang. */
function boundOf({ flags: { waitMs, quitMs, drainMs, graceMs = 0 } }: Plan): number {
  return waitMs + drainMs + graceMs + quitMs + PATIENCE_MS;
}

/**
 * Waits for ebb's end, and kills it if it hangs, which time that the machine stood still delays. Resolves with whether
 * it did.
 */
async function endOf(ebb: Ebb, boundMs: number, stalledMs: () => number): Promise<boolean> {
  const start = now();
  const isOver = () => now() - start > boundMs + 3 * stalledMs();
  while ((await within(500, ebb.exited)) === undefined) {
    if (!isOver()) continue;
    ebb.kill("SIGKILL");
    await ebb.exited;
    return true;
  }
  return false;
}

function sampleDescriptors(pid: number, isRunning: () => boolean): () => number {
  let most = 0;
  const timer = setInterval(() => {
    if (!isRunning()) return;
    try {
      most = Math.max(most, readdirSync(`/proc/${pid}/fd`).length);
    } catch {
      // it has just ended
    }
  }, SAMPLE_MS);
  return () => {
    clearInterval(timer);
    return most;
  };
}

const LEFT_MS = 3000;

/** Resolves with the application's processes that still run after 3 s, by their first words, and kills them. */
async function leftOf(lives: readonly Life[], app: string): Promise<readonly string[]> {
  const isOver = ({ facts, endedAt }: Life) => endedAt !== undefined || facts.at(-1)?.what === "end";
  const isDaemon = ({ facts }: Life) => facts[0]?.what === "daemon";
  const isDone = () => lives.every((life) => isOver(life) || isDaemon(life));
  await until("the application is over", isDone, LEFT_MS).catch(() => undefined); // who is left is what is asked for
  const left = lives.filter((life) => !isOver(life));
  for (const { pid } of left) if (isOf(app, pid)) process.kill(pid, "SIGKILL");
  return left.map(({ facts }) => facts[0]?.what.split(" ")[0] ?? "?");
}

/**
 * Reports whether a process is the application's: in a PID namespace it has another pid, which here is somebody else's.
 */
function isOf(app: string, pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`) === app;
  } catch {
    return false;
  }
}

interface Cues {
  when(cue: Cue, afterMs: number, act: () => void): void;
  call(cue: Cue): void;
  end(): void;
}

/** Creates a list of acts, each of which is done a while after something has happened for the first time. */
function createCues(): Cues {
  const called = new Set<Cue>();
  const waiting: { readonly cue: Cue; readonly start: () => void }[] = [];
  const timers: Timer[] = [];
  return {
    when(cue, afterMs, act) {
      const start = () => void timers.push(setTimeout(() => act(), afterMs));
      if (called.has(cue)) start();
      else waiting.push({ cue, start });
    },
    call(cue) {
      if (called.has(cue)) return;
      called.add(cue);
      for (const one of waiting) if (one.cue === cue) one.start();
    },
    end() {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { PeerRecord } from "../../src/pod/run/core/peers.ts";
import { beside } from "../binary/run/app-containers.ts";
import { now, watchStalls } from "../faults/clock.ts";
import { compiled } from "../harness/compiled.ts";
import { type Ended, startEbb, temporaryFolder } from "../harness/ebb.ts";
import { takes } from "../harness/time.ts";
import { callName, callNumbers, errorNumber, type Made, type Point, type Role } from "./points.ts";
import { type Scenario, type ScenarioName, scenarios, startProxy } from "./scenarios.ts";

const tracer = compiled(resolve(import.meta.dirname, "tracer.c"));
const app = compiled(resolve(import.meta.dirname, "app.c"));

const APP_CODE = 7;
const HANG_MS = 15_000;
/** The time, in ms, in which ebb must say that nothing can be started, beside the time that this machine stands still. */
const AT_ONCE_MS = 4000;

interface Trial {
  readonly ended: Ended;
  /** The system calls that were made. */
  readonly made: readonly Made[];
  /** Whether the call that was to fail was made. */
  readonly hasFailed: boolean;
  /** The promises that were broken. */
  readonly problems: readonly string[];
}

/** Runs ebb once in a scenario, under a tracer, with the call of `point` failing; without a point none fails. */
export async function tryPoint(name: ScenarioName, point?: Point): Promise<Trial> {
  const scenario: Scenario = scenarios[name];
  using folder = temporaryFolder();
  const [out, file] = [join(folder.path, "out"), join(folder.path, "app")];
  await using proxy = startProxy(scenario);
  using pod = beside(scenario.peer);
  const fails =
    point === undefined ? [] : [point.role, callNumbers.get(point.call), point.count, errorNumber(point.error)];
  const flags = ["--sidecar", "envoy", "--admin", proxy.url, "--wait-timeout", "2s", ...scenario.flags, ...pod.flags];
  using stalls = watchStalls();
  const start = now();
  await using ebb = startEbb(["run", ...flags, "--", app, file, scenario.app], {
    through: [...pod.through, tracer, out, ...fails.map(String), "--"],
  });
  const ended = await endOf(ebb.ended, () => stopApp(scenario.app === "stop", out, file));
  const end = now();
  const tookMs = end - start - stalls.within(start, end);
  const lines = readLines(out);
  const pid = startedIn(file);
  const isLeft = pid !== undefined && isAlive(pid);
  if (isLeft) process.kill(pid, "SIGKILL");
  const seen = { ended, tookMs, hasStarted: pid !== undefined, isLeft, quits: proxy.quits(), peer: scenario.peer };
  if (ended === undefined) killIfThere(pidIn(lines));
  return {
    ended: ended ?? (await ebb.ended),
    made: madeIn(lines),
    hasFailed: lines.includes("failed"),
    problems: judge(seen),
  };
}

/** Resolves with ebb's end, or with undefined if it has not ended after 15 s; calls `meanwhile` every 3 ms. */
async function endOf(ended: Promise<Ended>, meanwhile: () => void): Promise<Ended | undefined> {
  let isOver = false;
  const over = ended.then((value) => {
    isOver = true;
    return value;
  });
  const end = performance.now() + HANG_MS;
  while (!isOver && performance.now() < end) {
    meanwhile();
    await Promise.race([over, takes(3)]);
  }
  return isOver ? await over : undefined;
}

const told = new Set<string>();

/** Sends SIGTERM to ebb, once, when the app runs. */
function stopApp(isMeant: boolean, out: string, file: string): void {
  if (!isMeant || told.has(file) || startedIn(file) === undefined) return;
  told.add(file);
  const pid = pidIn(readLines(out));
  if (pid !== undefined) process.kill(pid, "SIGTERM");
}

interface Seen {
  readonly ended: Ended | undefined;
  readonly tookMs: number;
  readonly hasStarted: boolean;
  readonly isLeft: boolean;
  readonly quits: number;
  readonly peer: PeerRecord | undefined;
}

const word =
  /"msg":"ebb: (asked the sidecar to exit|could not shut down the sidecar|kept the sidecars running)"|"level":"(warn|error)"/;

function judge({ ended, tookMs, hasStarted, isLeft, quits, peer }: Seen): readonly string[] {
  if (ended === undefined) return ["it hangs"];
  const { code, stderr } = ended;
  const problems: string[] = [];
  if (isLeft) problems.push("the app is left behind");
  if (hasStarted && code === 9) problems.push("a zombie");
  else if (hasStarted && code === 8) problems.push("TERM is lost");
  else if (hasStarted && code === 10) problems.push("the app was started otherwise than ebb");
  else if (hasStarted && code !== APP_CODE) problems.push(`the app's code is lost: ${code}`);
  if (hasStarted && quits === 0 && !word.test(stderr)) problems.push("no quit, and no word");
  if (quits > 0 && peer?.state === "started") problems.push("a quit under another app");
  if (hasStarted) return problems;
  if (code === 0) problems.push("0 without the app");
  if (tookMs > AT_ONCE_MS) problems.push(`without the app, after ${Math.round(tookMs)} ms`);
  if (stderr.trim() === "") problems.push(`without the app, without a word: ${code}`);
  return problems;
}

function readLines(path: string): readonly string[] {
  return existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
}

function pidIn(lines: readonly string[]): number | undefined {
  const pid = Number(lines[0]?.split(" ")[1]);
  return pid > 0 ? pid : undefined;
}

function startedIn(file: string): number | undefined {
  const [, pid] = /^started (\d+)\n/.exec(readLines(file).join("\n")) ?? [];
  return pid === undefined ? undefined : Number(pid);
}

function madeIn(lines: readonly string[]): readonly Made[] {
  return lines.flatMap((line) => {
    const [kind, role, call, count] = line.split(" ");
    return kind === "call" ? [{ role: role as Role, call: callName(Number(call)), count: Number(count) }] : [];
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "latin1").includes(") Z ");
  } catch {
    return false;
  }
}

function killIfThere(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it has ended meanwhile
  }
}

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { nowNs } from "../faults/clock.ts";
import { collect, until } from "../harness/ebb.ts";
import { childrenOf } from "../harness/processes.ts";
import { appPath } from "./app.ts";
import type { Case, Seen, Step } from "./case.ts";
import { withNotes } from "./notes.ts";
import { type Pod, startServers } from "./servers.ts";

/** The result of a case. */
export interface Outcome {
  readonly seen: Seen;
  readonly stderr: string;
  /** The time until the command was started or, if it was not, until the tool ended. */
  readonly waitedMs: number;
  /** The time until the tool ended. */
  readonly tookMs: number;
}

/** A tool to be run. */
export interface Tool {
  /** The words before the case's own. */
  readonly words: readonly string[];
  /** The time after which it counts as "still running". */
  readonly limitMs: number;
}

const app = appPath();

/**
 * Runs a case in this process's network and PID namespace, in which nothing else may run: the rest is killed at the
 * end.
 */
export async function runCase(given: Case, tool: Tool): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "ebb-conformance-"));
  const pod = await startServers(given.servers ?? []);
  const agent = given.hasAgent ? await startAgent(folder) : undefined;
  const report = join(folder, "report");
  const start = nowNs();
  let isOver = false;
  const process_ = startTool(given, tool, report);
  const stdout = collect(process_.stdout);
  const stderr = collect(process_.stderr);
  try {
    const pid = () => (given.isPid1 ? childrenOf(process_.pid)[0] : process_.pid);
    const scene = { pod, report, pid, isOver: () => isOver };
    const steps = takeSteps(given.steps ?? [], scene);
    const code = await endOf(process_.exited, tool.limitMs);
    const end = nowNs();
    isOver = true;
    await steps;
    endOthers();
    await pod.settled();
    await Promise.all([stdout.done, stderr.done]);
    const { startedAt, signals } = readReport(report);
    const seen: Seen = {
      code,
      started: startOf(startedAt, pod.readyAt()),
      polls: [...pod.polled].sort(),
      requests: pod.requests(given.isInOrder),
      signals,
      agent: agent === undefined ? [] : readReport(agent).signals,
      stdout: given.hasOwnStdout ? stdout.text() && "(some)" : withNotes(stdout.text()),
    };
    const waitedMs = Number((startedAt ?? end) - start) / 1e6;
    const tookMs = Number(end - start) / 1e6;
    return { seen, stderr: stderr.text(), waitedMs, tookMs };
  } finally {
    endOthers();
    pod.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns stdin, as a file: a tool that ends without reading it would break a pipe. */
function stdinOf(stdin: string | undefined, folder: string) {
  if (stdin === undefined) return "ignore";
  writeFileSync(join(folder, "stdin"), stdin);
  return Bun.file(join(folder, "stdin"));
}

function startTool(
  { command = ["app", "exit", "0"], flags = [], env, stdin, isPid1 }: Case,
  { words }: Tool,
  report: string,
) {
  const [name, ...rest] = command;
  const own = name === "app" ? [app, report, ...rest] : command;
  const through = isPid1 ? ["unshare", "--pid", "--fork", "--kill-child"] : [];
  return Bun.spawn([...through, ...words, ...flags, ...own], {
    env: { PATH: process.env.PATH ?? "", ...env },
    stdin: stdinOf(stdin, dirname(report)),
    stdout: "pipe",
    stderr: "pipe",
  });
}

/** Starts a process called pilot-agent, which ends at SIGINT, and resolves with the path of its report. */
async function startAgent(folder: string): Promise<string> {
  const path = join(folder, "bin", "pilot-agent");
  const report = join(folder, "agent");
  mkdirSync(join(folder, "bin"));
  copyFileSync(app, path);
  Bun.spawn([path, report, "until", "2", "0"], { stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  await until("pilot-agent is there", () => readReport(report).startedAt !== undefined);
  return report;
}

function endOf(exited: Promise<number>, limitMs: number): Promise<Seen["code"]> {
  const { promise, resolve } = Promise.withResolvers<Seen["code"]>();
  const limit = setTimeout(() => resolve("still running"), limitMs);
  exited.then(resolve, () => undefined).finally(() => clearTimeout(limit));
  return promise;
}

/** The time for a step: more than any case takes. */
const STEP_MS = 600_000;

interface Scene {
  readonly isOver: () => boolean;
  readonly pod: Pod;
  readonly report: string;
  readonly pid: () => number | undefined;
}

/** Takes the steps of a case. A step whose time has not come when the tool ends is not taken. */
async function takeSteps(steps: readonly Step[], scene: Scene): Promise<void> {
  for (const { once, act, afterMs = 0 } of steps) {
    await until("what a step waits for, or the end", () => hasCome(once, scene) || scene.isOver(), STEP_MS);
    if (!hasCome(once, scene)) return;
    const due = performance.now() + afterMs;
    await until("the time of a step, or the end", () => performance.now() >= due || scene.isOver(), STEP_MS);
    if (act === "ready") scene.pod.becomeReady();
    else if (!scene.isOver()) send(scene.pid(), act.signal);
  }
}

function send(pid: number | undefined, signal: number): void {
  try {
    if (pid !== undefined) process.kill(pid, signal);
  } catch {
    // it has just gone
  }
}

function hasCome(once: Step["once"], { pod, report }: Scene): boolean {
  if (once === "started") return readReport(report).startedAt !== undefined;
  if ("polls" in once) return pod.polls() >= once.polls;
  if ("requests" in once) return pod.requests().length >= once.requests;
  return readReport(report).signals.length >= once.signals;
}

interface Report {
  readonly startedAt: bigint | undefined;
  readonly signals: readonly number[];
}

function readReport(path: string): Report {
  const text = existsSync(path) ? readFileSync(path, "latin1") : "";
  const started = /^started (\d+)\n/m.exec(text)?.[1];
  const signals = [...text.matchAll(/^signal (\d+)\n/gm)].map(([, number]) => Number(number));
  return { startedAt: started === undefined ? undefined : BigInt(started), signals };
}

function startOf(startedAt: bigint | undefined, readyAt: bigint | undefined): Seen["started"] {
  if (startedAt === undefined) return "no";
  return readyAt !== undefined && readyAt <= startedAt ? "when ready" : "unready";
}

/** Kills all other processes of this namespace, whose PID 1 this process is. @throws Error if it is not */
function endOthers(): void {
  if (process.pid !== 1) throw new Error("not in a namespace of its own");
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!(pid > 1)) continue;
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // it has just gone
    }
  }
}

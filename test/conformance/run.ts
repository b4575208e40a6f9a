import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { childrenOf, collect, until } from "../harness.ts";
import { appPath } from "./app.ts";
import type { Case, Seen, Step } from "./case.ts";
import { type Pod, startServers } from "./servers.ts";

/** What a case came to. */
export interface Outcome {
  readonly seen: Seen;
  readonly stderr: string;
  /** Until the command was started, or where it was not until the tool ended. */
  readonly waitedMs: number;
  readonly tookMs: number;
}

export interface Tool {
  /** The words before the case's own. */
  readonly words: readonly string[];
  /** It is "still running" after so long. */
  readonly limitMs: number;
}

const app = appPath();

/** Runs a case in this process's own network and PID namespace, where nothing else is. */
export async function runCase(given: Case, tool: Tool): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "ebb-conformance-"));
  const pod = await startServers(given.servers ?? []);
  const agent = given.hasAgent ? await startAgent(folder) : undefined;
  const report = join(folder, "report");
  const start = process.hrtime.bigint();
  let isOver = false;
  const process_ = startTool(given, tool, report);
  const stdout = collect(process_.stdout);
  const stderr = collect(process_.stderr);
  try {
    const pid = () => (given.isPid1 ? childrenOf(process_.pid)[0] : process_.pid);
    const scene = { pod, report, pid, isOver: () => isOver };
    const steps = takeSteps(given.steps ?? [], scene);
    const code = await endOf(process_.exited, tool.limitMs);
    const end = process.hrtime.bigint();
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
      stdout: given.hasOwnStdout ? stdout.text() && "(some)" : withoutLog(stdout.text()),
    };
    const waitedMs = Number((startedAt ?? end) - start) / 1e6;
    return { seen, stderr: stderr.text(), waitedMs, tookMs: Number(end - start) / 1e6 };
  } finally {
    endOthers();
    pod.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** scuttle's and pilot-agent's logs, with their times, stand on stdout. */
function withoutLog(stdout: string): string {
  const own = stdout.replaceAll(/^\d{4}-\d\d-\d\dT[\d:.]+Z[ \t](scuttle:|info\t).*\n/gm, "");
  return own === stdout ? own : `(log)\n${own}`;
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
    stdin: stdin === undefined ? "ignore" : new TextEncoder().encode(stdin),
    stdout: "pipe",
    stderr: "pipe",
  });
}

/** A process whose executable has this name; it goes at SIGINT. */
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

/** More than any case takes. */
const STEP_MS = 600_000;

interface Scene {
  readonly isOver: () => boolean;
  readonly pod: Pod;
  readonly report: string;
  readonly pid: () => number | undefined;
}

/** What was not come to when the tool ends is not done. */
async function takeSteps(steps: readonly Step[], scene: Scene): Promise<void> {
  for (const { once, act } of steps) {
    await until("what a step waits for, or the end", () => hasCome(once, scene) || scene.isOver(), STEP_MS);
    if (!hasCome(once, scene)) return;
    if (act === "ready") scene.pod.becomeReady();
    else if (!scene.isOver()) process.kill(scene.pid() as number, act.signal);
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

/** Ends what a case has left in this namespace, whose PID 1 this process is. */
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

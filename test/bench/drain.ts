import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { collect } from "../harness.ts";
import { compiledProgram } from "../sidecars/compile.ts";
import type { Drained, Order, WorkName } from "./drain-inside.ts";
import { alike, asTheyCome, type Drainer, shown, underLoad, type Way } from "./drain-ways.ts";
import { DEREGISTERED_MS, load, REQUEST_MS, SOCKET_MS } from "./drain-work.ts";
import type { Figure } from "./figure.ts";
import { median, shuffled } from "./statistics.ts";
import { number, type Table } from "./table.ts";

/** One thing in flight, and who drains it. */
interface Scenario {
  readonly title: string;
  readonly work: WorkName;
  readonly ways: readonly Way[];
}

const all = [...new Set([...alike, ...asTheyCome])];

const scenarios: readonly Scenario[] = [
  { title: "nothing in flight", work: "idle", ways: all },
  { title: "an idle keep-alive connection", work: "keepAlive", ways: all },
  { title: `a request of ${REQUEST_MS / 1000} s`, work: "request", ways: all },
  { title: `a WebSocket of ${SOCKET_MS / 1000} s`, work: "webSocket", ways: all },
  {
    title: `a new connection every 0.2 s, until ${DEREGISTERED_MS / 1000} s after the beginning`,
    work: "nowAndThen",
    ways: asTheyCome,
  },
];

const ROUNDS = 5;
/** They wait more than they work. */
const AT_ONCE = 6;

/** How long draining an Envoy takes beside the drains of others, and what each loses. */
export const drain: Figure = {
  name: "drain",
  async run({ isQuick }) {
    const programs = findPrograms();
    const rounds = isQuick ? 1 : ROUNDS;
    const jobs = scenarios.flatMap((scenario) =>
      scenario.ways
        .filter(({ by }) => programs.has(by))
        .flatMap((way) => Array.from({ length: rounds }, () => ({ scenario, way }))),
    );
    const drained = await pool(shuffled(jobs), async (job) => ({
      ...job,
      result: await drainOnce(job.way, job.scenario.work, programs),
    }));
    const tables = scenarios.map((scenario) => {
      const own = drained.filter((each) => each.scenario === scenario);
      return table(scenario, (way) => own.filter((each) => each.way === way).map(({ result }) => result), rounds);
    });
    return [legend(programs), ...tables, loadTable(await drainUnderLoad(programs))];
  },
};

/** What a drain under load came to. */
export interface UnderLoad extends Drained {
  readonly way: Way;
}

/** Draining under load in each way, at the same time: they share nothing but the machine. */
export function drainUnderLoad(programs = findPrograms()): Promise<readonly UnderLoad[]> {
  const ways = underLoad.filter(({ by }) => programs.has(by));
  return Promise.all(ways.map(async (way) => ({ way, ...(await drainOnce(way, "everything", programs)) })));
}

export const setting =
  `a real Envoy, ${load.quick + load.slow} keep-alive clients: ${load.quick} ask for 20-200 ms each, ${load.slow} for 3-9 s; ` +
  `a WebSocket of ${SOCKET_MS / 1000} s, an idle connection; no new requests ${DEREGISTERED_MS / 1000} s after the beginning`;

/** How many requests and WebSockets there were, and how many were lost. */
export function lossOf({ inFlight }: Pick<Drained, "inFlight">): { readonly count: number; readonly lost: number } {
  const work = inFlight.filter(({ kind }) => kind !== "idle");
  return { count: work.length, lost: work.filter(({ lost }) => lost !== undefined).length };
}

type Programs = ReadonlyMap<Drainer, string>;

/** The executables, and a line for each that cannot be had. @throws Error where nothing can be drained here */
function findPrograms(): Programs {
  const { status, stderr } = spawnSync("unshare", [...namespaces, "true"], { encoding: "utf8" });
  if (status !== 0) throw new Error(`drain: needs namespaces of its own: ${stderr}`);
  const programs = new Map<Drainer, string>((["none", "sleep", "ebb"] as const).map((by) => [by, ""]));
  for (const name of ["envoy-gateway", "contour"] as const) {
    try {
      programs.set(name, compiledProgram(name).path);
    } catch (error) {
      console.log(`drain: without ${name}: ${error instanceof Error ? error.message : error}`);
    }
  }
  return programs;
}

const namespaces = ["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];

async function drainOnce(way: Way, work: WorkName, programs: Programs): Promise<Drained> {
  const order: Order = { way, work, path: programs.get(way.by) ?? "" };
  const program = join(import.meta.dirname, "drain-inside.ts");
  const inside = Bun.spawn(["unshare", ...namespaces, process.execPath, program, JSON.stringify(order)], {
    ...{ stdin: "ignore", stdout: "pipe", stderr: "pipe" },
  });
  const [stdout, stderr] = [collect(inside.stdout), collect(inside.stderr)];
  const code = await inside.exited;
  await Promise.all([stdout.done, stderr.done]);
  if (code !== 0) throw new Error(`${way.name}, ${work}: ${stderr.text()}`);
  return JSON.parse(stdout.text());
}

async function pool<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<readonly R[]> {
  const left = [...items];
  const results: R[] = [];
  const work = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) results.push(await run(item));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}

function legend(programs: Programs): Table {
  const ways = all.filter(({ by }) => programs.has(by));
  return {
    title: "drain: who drains",
    shows: [
      "each beside a real Envoy in namespaces of its own; Envoy gets SIGTERM when its preStop hook ends",
      "with a shutdown-manager that is when it has answered, as in its manifest; killed: what the bench does, in the kubelet's place",
    ],
    columns: ["", "hook", "idle connections end after", "killed after s"],
    rows: ways.map((way) => [way.name, shown(way), way.idleTimeout ?? "1h", String(way.graceMs / 1000)]),
  };
}

function table({ title, ways }: Scenario, resultsOf: (way: Way) => readonly Drained[], rounds: number): Table {
  const rows = ways.flatMap((way) => {
    const results = resultsOf(way);
    return results.length === 0 ? [] : [row(way, results)];
  });
  const shows = [`medians of ${rounds}; lost: of all rounds`];
  return { title: `drain: ${title}`, shows, columns: ["", "hook ends after s", "Envoy goes after s", "lost"], rows };
}

function row({ name }: Way, results: readonly Drained[]): readonly string[] {
  const losses = results.map(lossOf);
  const [lost, count] = [sum(losses.map((each) => each.lost)), sum(losses.map((each) => each.count))];
  return [
    name,
    seconds(median(results.map(({ drainedMs }) => drainedMs ?? Number.POSITIVE_INFINITY))),
    seconds(median(results.map(({ goneMs }) => goneMs ?? Number.POSITIVE_INFINITY))),
    count === 0 ? "" : `${lost} of ${count}`,
  ];
}

function loadTable(all: readonly UnderLoad[]): Table {
  return {
    title: "drain: under load",
    shows: [setting],
    columns: ["", "requests", "lost", "hook ends after s", "Envoy goes after s"],
    rows: all.map(({ way, drainedMs, goneMs, inFlight }) => {
      const { count, lost } = lossOf({ inFlight });
      return [way.name, String(count), String(lost), seconds(drainedMs), seconds(goneMs)];
    }),
  };
}

function seconds(ms: number | null): string {
  return ms === null || !Number.isFinite(ms) ? "killed" : number(ms / 1000);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

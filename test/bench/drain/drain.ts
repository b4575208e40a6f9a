import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { envoyMissing, envoyPath } from "../../../build/setup/envoy.mjs";
import { collect } from "../../harness/ebb.ts";
import { compiledProgram } from "../../sidecars/compile.ts";
import type { Figure } from "../figure.ts";
import { shuffled } from "../statistics.ts";
import { DEREGISTERED_MS } from "./drain-client.ts";
import type { Drained, Order, WorkName } from "./drain-inside.ts";
import { legendTable, loadTable, scenarioTable, type UnderLoad } from "./drain-tables.ts";
import { alike, asTheyCome, type Drainer, underLoad, type Way } from "./drain-ways.ts";
import { REQUEST_MS, SOCKET_MS } from "./drain-work.ts";

/** A kind of work in flight, and the ways that drain it. */
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
/** The number of drains at the same time: they wait more than they work. */
const AT_ONCE = 6;

/** Measures how long draining an Envoy takes beside the drains of others, and what each loses. Needs root. */
export const drain: Figure = {
  name: "drain",
  async run({ isQuick }) {
    const lacking = obstacle();
    if (lacking !== undefined) return console.log(`drain: not measured: ${lacking}`) ?? [];
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
      const rows = scenario.ways.map((way) => ({
        way,
        results: own.filter((each) => each.way === way).map(({ result }) => result),
      }));
      return scenarioTable(scenario.title, rows, rounds);
    });
    return [
      legendTable(all.filter(({ by }) => programs.has(by))),
      ...tables,
      loadTable(await drainUnderLoad(programs)),
    ];
  },
};

/** Drains under load in each way, at the same time: the ways share nothing but the machine. */
export function drainUnderLoad(programs = findPrograms()): Promise<readonly UnderLoad[]> {
  const ways = underLoad.filter(({ by }) => programs.has(by));
  return Promise.all(ways.map(async (way) => ({ way, ...(await drainOnce(way, "everything", programs)) })));
}

type Programs = ReadonlyMap<Drainer, string>;

function obstacle(): string | undefined {
  if (envoyPath() === undefined) return envoyMissing;
  const { status, stderr, error } = spawnSync("unshare", [...namespaces, "ip", "link"], { encoding: "utf8" });
  return status === 0 ? undefined : `no namespaces of its own: ${error?.message ?? stderr}`;
}

/** Returns the paths of the programs, and prints a line for each that cannot be compiled. */
function findPrograms(): Programs {
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

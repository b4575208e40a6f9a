// bun drain-inside.ts JSON runs the drain of an Order, in mount, network and PID namespaces of its own (drain.ts), and
// prints a Drained.
import { get } from "node:http";
import { type Envoy, startEnvoy } from "../../envoy/envoy.ts";
import { collect, temporaryFolder, until } from "../../harness/ebb.ts";
import { within } from "../../harness/time.ts";
import { startApp } from "./drain-app.ts";
import type { InFlight } from "./drain-client.ts";
import { everything } from "./drain-load.ts";
import { adminOf, type Hooks, hooksOf, type Way } from "./drain-ways.ts";
import { idle, keepAlive, nowAndThen, request, webSocket } from "./drain-work.ts";

const works = { idle, keepAlive, request, webSocket, nowAndThen, everything } as const;

/** The names of what clients can do meanwhile. */
export type WorkName = keyof typeof works;

/** A drain to be run. */
export interface Order {
  readonly way: Way;
  /** The path of the way's program. */
  readonly path: string;
  readonly work: WorkName;
}

/** The result of a drain. Times are milliseconds since the hooks began. */
export interface Drained {
  /** The time when the hook that drains ended; null if it was killed. */
  readonly drainedMs: number | null;
  /** The time when Envoy got SIGTERM; null if it was killed. */
  readonly goneMs: number | null;
  readonly inFlight: readonly InFlight[];
}

async function drain({ way, path, work }: Order): Promise<Drained> {
  using folder = temporaryFolder();
  await using app = startApp();
  const listener = { name: "http", ...(way.idleTimeout === undefined ? {} : { idleTimeout: way.idleTimeout }) };
  const admin = adminOf(way.by, folder.path);
  await using envoy = await startEnvoy({ upstreamPort: app.port, admin, listeners: [listener] });
  const hooks = hooksOf(way, { path, folder: folder.path, admin: envoy.admin });
  const manager = await startManager(hooks);
  const { begin, done } = await works[work]({ url: envoy.url, app });
  begin();
  const times = await runHooks(hooks, manager, way.graceMs);
  end(envoy, times.goneMs === null);
  await envoy.ended;
  return { ...times, inFlight: await done() };
}

function end(envoy: Envoy, isKilled: boolean): void {
  envoy.kill(isKilled ? "SIGKILL" : "SIGTERM");
}

type Process = Bun.Subprocess<"ignore", "ignore", "ignore">;
const quiet = { stdin: "ignore", stdout: "ignore", stderr: "ignore" } as const;

async function startManager({ manager }: Hooks): Promise<Process | undefined> {
  if (manager === undefined) return undefined;
  const started = Bun.spawn(["unshare", "--mount", ...manager.words], { ...quiet, cwd: manager.cwd });
  await until(`${manager.health} answers`, async () => (await isAnswered(manager.health)) || undefined);
  return started;
}

/** Runs both hooks at the same time, as the kubelet does, and kills them at the end of the grace. */
async function runHooks(
  { drain, manager }: Hooks,
  running: Process | undefined,
  graceMs: number,
): Promise<Pick<Drained, "drainedMs" | "goneMs">> {
  const enter = running === undefined ? [] : ["nsenter", `--target=${running.pid}`, "--mount", "--wd"];
  const start = performance.now();
  const hook = Bun.spawn([...enter, ...drain], quiet);
  const ms = (): number => performance.now() - start;
  const drained = hook.exited.then((code) => {
    if (code !== 0) throw new Error(`${drain.join(" ")}: exit code ${code}`);
    return ms();
  });
  // to the kubelet it does not matter whether there is an answer, and of which status
  const gone = manager === undefined ? drained : isAnswered(manager.ready).then(ms);
  const inTime = async (end: Promise<number>): Promise<number | null> => (await within(graceMs, end)) ?? null;
  const [drainedMs, goneMs] = await Promise.all([inTime(drained), inTime(gone)]);
  drained.catch(() => undefined); // it was too late, and is killed
  hook.kill("SIGKILL");
  return { drainedMs, goneMs };
}

function isAnswered(url: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  get(url, { agent: false }, (response) => response.resume().on("end", () => resolve(true))).on("error", () =>
    resolve(false),
  );
  return promise;
}

if (import.meta.main) {
  const up = Bun.spawn(["ip", "link", "set", "lo", "up"], { stdout: "ignore", stderr: "pipe" });
  const said = collect(up.stderr);
  if ((await up.exited) !== 0) throw new Error(`ip: ${said.text()}`);
  process.stdout.write(JSON.stringify(await drain(JSON.parse(process.argv[2] ?? ""))));
  process.exit();
}

import { endsWait } from "../../src/shared/core/signal.ts";
import { type Started, startEbb, until } from "../harness/ebb.ts";
import { catches, processState } from "../harness/processes.ts";
import { type Random, randomOf } from "../harness/random.ts";
import { takes } from "../harness/time.ts";
import { now } from "./clock.ts";
import { listenDeaf } from "./deaf.ts";
import { killBy } from "./kill.ts";
import type { Witness } from "./oracle/witness.ts";
import { nextAddress, type TcpPlace, urlOf } from "./place.ts";
import { others } from "./plan/signals.ts";
import type { Result } from "./result.ts";
import { growth, least, type Usage, usageOf } from "./usage.ts";

const SAMPLES = 40;
const SIGTERM = 15;
const START_MS = 60_000;

interface Soaked {
  readonly name: string;
  readonly started: Started;
  /** Whether it gets signals that stop nobody. */
  readonly isSignalled: boolean;
  /** The exit code that it must end with. */
  readonly code: number;
}

/**
 * Runs all of ebb that lasts at the same time for `ms`, under signals and with orphans, and compares the memory and
 * descriptors of the beginning and the end. `app` is the application's command, `say` is told the figures.
 */
export async function soak(
  ms: number,
  app: readonly string[],
  witness: Witness,
  say: (text: string) => void,
): Promise<Result> {
  const random = randomOf(1);
  using proxy = moody(random);
  using answering = serve("HTTP/1.1 503 Not Yet\r\ncontent-length: 5\r\n\r\nwait\n");
  using hanging = serve("");
  const deaf = nextAddress();
  using _ = listenDeaf(deaf);
  const admin = ["--sidecar", "envoy", "--admin", urlOf(proxy.place)];
  const never = ["--wait-timeout", "0", "--quit-on", "never"];
  const churn = ["note", "churn:20", "exit:9"];
  const run = "soak";
  const lives = witness.listen(run, () => undefined);
  const lasting = (name: string, words: readonly string[], more: Partial<Soaked> = {}): Soaked => {
    return { name, started: startEbb(words), isSignalled: false, code: 143, ...more };
  };
  const waits = { "answers 503": answering.place, hangs: hanging.place, "is refused": nextAddress(), "is deaf": deaf };
  const drain = ["drain", "--drain", `${2 * ms + 60_000}ms`, "--min-drain", "0", ...admin];
  const soaked: readonly Soaked[] = [
    lasting("wait", ["wait", "--wait-timeout", "0", ...admin]),
    ...Object.entries(waits).map(([what, place]) => lasting(`wait for what ${what}`, waitFor(place))),
    lasting("run, waiting", ["run", ...never, ...admin, "--", "true"], { isSignalled: true }),
    lasting("run", ["run", "--no-wait", ...never, ...admin, "--", ...app, run, ...churn], {
      isSignalled: true,
      code: 9,
    }),
    lasting("drain", drain),
  ];
  await until(
    "ebb is there for signals",
    () => soaked.every(({ started: { pid } }) => catches(pid, SIGTERM)),
    START_MS,
  );
  await until("the app notes them", () => lives[0]?.facts.some(({ what }) => what === "noting"), START_MS);
  const endSignals = sendSignals(soaked, random);
  const usages = await watch(soaked, ms);
  endSignals();
  witness.forget(run);
  const early = soaked.filter(({ started: { pid } }) => processState(pid) === undefined);
  let failed = 0;
  for (const one of soaked) {
    one.started.kill(SIGTERM);
    const { code, stderr } = await one.started.ended;
    const samples = usages.get(one.name) ?? [];
    const quarter = Math.ceil(samples.length / 4);
    const wrong = code === one.code ? undefined : `exit code ${code}, not ${one.code}: ${stderr.slice(-500)}`;
    const gone = early.includes(one) ? "it ended before it was told to" : undefined;
    const problem = wrong ?? gone ?? growth(least(samples.slice(1, 1 + quarter)), least(samples.slice(-quarter)));
    if (problem !== undefined) failed += 1;
    say(`soak of ${one.name}, RssAnon in KiB: ${shown(samples)}${problem === undefined ? "" : `: ${problem}`}`);
  }
  return { passed: soaked.length - failed, failed };
}

/** The number of targets that one `ebb wait` polls, so that ten thousand polls take ten seconds. */
const TARGETS = 10;

function waitFor(place: TcpPlace): readonly string[] {
  const targets = Array.from({ length: TARGETS }, (_, index) => `${urlOf(place)}/ready${index}`);
  return ["wait", "--sidecar", "none", "--wait-timeout", "0", ...targets];
}

/** Starts a server that answers each request in the same way. */
function serve(answer: string): Disposable & { readonly place: TcpPlace } {
  const place = nextAddress();
  const server = Bun.listen({ ...place, socket: { data: (socket) => void socket.write(answer) } });
  return { place, [Symbol.dispose]: () => server.stop(true) };
}

function shown(samples: readonly Usage[]): string {
  const every = Math.ceil(samples.length / 10);
  const some = samples.filter((_, index) => index % every === every - 1);
  return `${some.map(({ rssAnon }) => rssAnon).join(" ")}, ${Math.max(...samples.map((one) => one.descriptors))} descriptors`;
}

/** Samples the usage of each 40 times, until the time is over or one of them has ended. */
async function watch(soaked: readonly Soaked[], ms: number): Promise<ReadonlyMap<string, Usage[]>> {
  const usages = new Map<string, Usage[]>(soaked.map(({ name }) => [name, []]));
  const start = now();
  while (now() - start < ms) {
    await takes(ms / SAMPLES);
    try {
      for (const { name, started } of soaked) usages.get(name)?.push(usageOf(started.pid));
    } catch {
      break; // one has ended, and its code says more
    }
  }
  return usages;
}

const SIGNAL_MS = 7;

function sendSignals(soaked: readonly Soaked[], random: Random): () => void {
  const targets = new Set<Started>();
  for (const { started, isSignalled } of soaked) {
    if (isSignalled) targets.add(started);
    started.ended.finally(() => targets.delete(started)).catch(() => undefined);
  }
  const harmless = others.filter((signal) => !endsWait(signal));
  const timer = setInterval(() => {
    for (const { pid } of targets) killBy(pid, random.pick(harmless));
  }, SIGNAL_MS);
  return () => clearInterval(timer);
}

/** Starts a proxy that is never ready and never idle, each time in another way. */
function moody(random: Random): Disposable & { readonly place: TcpPlace } {
  const place = nextAddress();
  const server = Bun.listen({
    ...place,
    socket: {
      data(socket, bytes) {
        const text = bytes.toString("latin1");
        const count = `listener.0.0.0.0_80.downstream_cx_active: ${random.int(1, 9)}\nlistener.admin.downstream_cx_active: 1\n`;
        if (text.startsWith("GET /stats")) return void socket.write(answer("200 OK", count));
        if (!text.startsWith("GET /ready")) return void socket.write(answer("200 OK", "{}"));
        const mood = random.int(0, 9);
        if (mood === 0) return; // it hangs
        if (mood === 1) return void socket.terminate();
        if (mood === 2) return void socket.end("garbage\n\n");
        socket.write(answer(random.pick(["503 No", "500 No", "404 No"]), "x".repeat(random.int(0, 2000))));
      },
    },
  });
  return { place, [Symbol.dispose]: () => server.stop(true) };
}

function answer(status: string, body: string): string {
  return `HTTP/1.1 ${status}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

// npm start shows ebb's main job as in a pod. A Job calls through a proxy that is not ready yet; ebb waits for the
// proxy, runs the Job, quits the proxy and keeps the Job's exit code.
import { constants } from "node:os";
import { envoyMissing, envoyPath, envoyVersion } from "../../build/setup/envoy.mjs";
import { startEnvoy } from "../envoy/envoy.ts";
import { startControlPlane, startUpstream, type Upstream } from "../envoy/servers.ts";
import { ebbPath } from "../harness/ebb.ts";
import { within } from "../harness/time.ts";
import { paint, type Style, wrapped } from "./demo-text.ts";

const JOB_CODE = 42;
const start = performance.now();
const cleanUp = new AsyncDisposableStack();

/**
 * Runs the demo. Returns 0 if the Job's exit code was kept and the proxy is gone, else 1; 128+n if signal n ended it.
 */
async function main(): Promise<number> {
  const shown = demo();
  shown.catch(() => undefined); // what it meets after an interruption is of no interest; before, the race brings it
  try {
    const outcome = await Promise.race([shown, interruption()]);
    return typeof outcome === "number" ? outcome : conclude(outcome);
  } finally {
    await cleanUp.disposeAsync();
  }
}

function interruption(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => resolve(128 + constants.signals[signal]));
  return promise;
}

interface Outcome {
  readonly code: number;
  readonly isGone: boolean;
}

async function demo(): Promise<Outcome> {
  const upstream = cleanUp.use(startUpstream());
  const proxy = await startProxy(upstream);
  headline("A Job without ebb, next to a proxy that is not ready yet:");
  say(proxy.name, "started, not ready yet");
  await follow("job", job(proxy, 3));
  say(proxy.name, "runs on although the Job has ended: its Pod would never complete");

  headline("The same Job with ebb, next to the same proxy:");
  const words = [ebbPath, "run", "--log-format", "text", "--admin", proxy.admin, "--", ...job(proxy, 100)];
  const code = await follow("ebb", words, (line) => line.startsWith("ebb: waiting until ready") && proxy.becomeReady());
  const isGone = await isOver(proxy.ended);
  say(proxy.name, isGone ? `gone, exit code ${await proxy.ended}` : "still running");
  return { code, isGone };
}

function conclude({ code, isGone }: Outcome): number {
  if (code !== JOB_CODE || !isGone) {
    console.log(`\n${paint("red", "This went wrong:")} expected exit code ${JOB_CODE} and no proxy left.`);
    return 1;
  }
  const summary = `The Job's exit code, ${code}, was kept, and the proxy is gone: the Pod completes.`;
  console.log(`\n${paint("green", "✓")} ${paint("bold", wrapped(summary, 2))}`);
  console.log(
    `Next: ${wrapped("README.md has the manifests to paste; dist/ebb --help lists the commands; npm test runs the tests.", 6)}`,
  );
  return 0;
}

/** Reports whether a promise resolves within 2 s. */
function isOver(end: Promise<unknown>): Promise<boolean> {
  return within(
    2000,
    end.then(() => true),
  ).then(Boolean);
}

/** The proxy beside the Job. */
interface Proxy extends AsyncDisposable {
  readonly name: string;
  readonly admin: string;
  /** The URL that the Job calls. */
  readonly url: string;
  readonly ended: Promise<number>;
  readonly becomeReady: () => void;
}

/**
 * Starts Envoy or, if it is not installed, the stand-in. It is cleaned up even if the demo is interrupted meanwhile.
 */
function startProxy(upstream: Upstream): Promise<Proxy> {
  const starting = envoyPath() === undefined ? startStandIn(upstream) : startRealEnvoy(upstream);
  cleanUp.defer(async () => (await starting)[Symbol.asyncDispose]());
  return starting;
}

/** Starts a real Envoy, whose control plane is late. */
async function startRealEnvoy(upstream: Upstream): Promise<Proxy> {
  const waitsFor = cleanUp.use(startControlPlane("endpoints", upstream.port));
  const becomeReady = (): void => {
    say("envoy", "has its endpoints now");
    waitsFor.release();
  };
  console.log(`A real Envoy ${envoyVersion} is the proxy; its control plane is late.`);
  return { name: "envoy", becomeReady, ...(await startEnvoy({ upstreamPort: upstream.port, waitsFor })) };
}

async function startStandIn(upstream: Upstream): Promise<Proxy> {
  console.log(`${envoyMissing}; instead, a small HTTP server stands in for it.`);
  const words = [`${import.meta.dirname}/../stand-in/demo-envoy.ts`, `${upstream.port}`];
  const server = Bun.spawn([process.execPath, ...words], { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const stop = async () => {
    server.kill("SIGKILL");
    await server.exited;
  };
  cleanUp.defer(stop);
  const { value = "" } = await lines(server.stdout).next();
  const [adminPort, port] = value.split(" ");
  const [admin, url] = [`http://127.0.0.1:${adminPort}`, `http://127.0.0.1:${port}`];
  const becomeReady = () => server.kill("SIGUSR1");
  return { name: "stand-in", admin, url, becomeReady, ended: server.exited, [Symbol.asyncDispose]: stop };
}

function job({ url }: Proxy, requests: number): readonly string[] {
  return ["bun", `${import.meta.dirname}/../fixtures/job.ts`, url, `${requests}`, `${JOB_CODE}`];
}

/**
 * Runs a command, and shows each of its lines, and of ebb's around it, as it comes; one pipe for both keeps the order.
 */
async function follow(
  who: "ebb" | "job",
  words: readonly string[],
  hear: (line: string) => void = () => undefined,
): Promise<number> {
  if (cleanUp.disposed) throw new Error("interrupted");
  const command = Bun.spawn(["sh", "-c", 'exec "$@" 2>&1', "sh", ...words], { stdin: "ignore", stdout: "pipe" });
  cleanUp.defer(async () => {
    command.kill("SIGTERM");
    if (!(await isOver(command.exited))) command.kill("SIGKILL");
  });
  for await (const line of lines(command.stdout)) {
    const [, speaker = "job", text = line] = /^(ebb): (.*)/.exec(line) ?? [];
    say(speaker, text);
    hear(line);
  }
  const code = await command.exited;
  say(who, `exit code ${code}`);
  return code;
}

async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, string | undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
  return undefined;
}

function say(who: string, text: string): void {
  if (cleanUp.disposed) return;
  const seconds = ((performance.now() - start) / 1000).toFixed(3);
  const name = paint(colors[who] ?? "yellow", who.padEnd(8));
  console.log(`${paint("dim", `${seconds.padStart(7)} s`)}  ${name}  ${wrapped(text, TEXT_COLUMN)}`);
}

/** The column in which the text of a line begins. */
const TEXT_COLUMN = 21;

/** The colours of those that speak; all others, the proxies, are yellow. */
const colors: Readonly<Record<string, Style>> = { ebb: "cyan", job: "bold" };

function headline(text: string): void {
  console.log(`\n${paint("bold", text)}`);
}

process.exit(await main());

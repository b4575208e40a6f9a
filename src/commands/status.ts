import { beginLog } from "../begin-log.ts";
import { badCall, type Command, type Invocation } from "../command.ts";
import { readAnnotations } from "../pod/find/annotations.ts";
import { createPortSearch, findSidecars, type SidecarSettings } from "../pod/find/find.ts";
import { readNetwork } from "../pod/find/network.ts";
import { summarizeSockets } from "../pod/process/core/net.ts";
import { readInitCall, readSettledProcesses } from "../pod/process/processes.ts";
import { readSocketTables } from "../pod/process/sockets.ts";
import { type Elsewhere, elsewhereIn } from "../pod/status/core/elsewhere.ts";
import { findingsOf } from "../pod/status/core/findings.ts";
import { processesOf } from "../pod/status/core/proc-pid.ts";
import type { Snapshot } from "../pod/status/core/snapshot.ts";
import { statusLines } from "../pod/status/core/text.ts";
import { askSidecarStatus } from "../pod/status/sidecar-status.ts";
import { type Call, readFlagCall } from "../shared/cli/core/call.ts";
import { optionsOf, type Settings } from "../shared/cli/core/options.ts";
import type { Environment } from "../shared/core/environment.ts";
import { EXIT } from "../shared/core/exit.ts";
import { trustFile } from "../shared/http/trust.ts";
import { isTerminal } from "../shared/output/live.ts";
import { writeControl, writeOutput } from "../shared/output/output.ts";
import type { Probe } from "../shared/sidecars/core/probe.ts";
import type { Sidecar } from "../shared/sidecars/core/sidecar.ts";
import { unnamedFor, whyUnnamed } from "../shared/sidecars/core/unnamed.ts";

const options = optionsOf("status");

/** The time for each request. All are sent at the same time. */
const REQUEST_MS = 2000;
const WATCH_PERIOD_MS = 1000;
/** ECMA-48: moves the cursor to the upper left corner, and erases the screen. */
const CLEAR = "\x1b[H\x1b[2J";

/**
 * `ebb status` shows what is going on in this pod, by the options of PID 1 if that is an ebb. Exits with 0 whatever it
 * sees: `ebb wait` tells ready from not ready. With --watch it repeats that each second, until a stop signal comes or
 * stdout has no reader.
 */
export const command: Command = {
  summary: "show the sidecars, what listens here, and what stands out",
  usage: "status [--json] [--watch] [flags]",
  examples: [
    { call: "ebb status", why: "With kubectl exec, in any container of the pod that has ebb." },
    { call: "ebb status --watch", why: "Follow a drain." },
    { call: "ebb status --json", why: "For scripts." },
  ],
  exits: [["0", "always; use ebb wait to tell ready from not ready"], badCall],
  seeAlso: ["wait", "request", "config"],
  options,
  main,
};

async function main({ args, env }: Invocation): Promise<number> {
  const call = readFlagCall(options, { args, env }, command.usage);
  const { json, watch } = call.values;
  if (!watch) {
    const snapshot = await takeSnapshot(call, env);
    await writeOutput(`${json ? JSON.stringify(snapshot, null, 2) : statusLines(snapshot).join("\n")}\n`);
    return EXIT.ok;
  }
  for (;;) {
    const start = performance.now();
    const snapshot = await takeSnapshot(call, env);
    const text = json ? JSON.stringify(snapshot) : [snapshot.time, ...statusLines(snapshot), ""].join("\n");
    if (!json && isTerminal(1)) writeControl(CLEAR);
    if (!(await writeOutput(`${text}\n`))) return EXIT.ok;
    await Bun.sleep(Math.max(0, WATCH_PERIOD_MS - (performance.now() - start)));
  }
}

async function takeSnapshot(call: StatusCall, env: Environment): Promise<Snapshot> {
  const time = new Date().toISOString();
  const view = await chooseView(call, env);
  trustFile(view.settings.caFile);
  const { sidecars, foundBy, doubts } = await find(view);
  // before the requests, whose own connections must not be shown
  const seen = await readSettledProcesses();
  const sockets = summarizeSockets(readSocketTables(), seen?.owners ?? new Map());
  const processes = seen === undefined ? null : processesOf(seen);
  const [states, others] = await Promise.all([
    Promise.all([...sidecars, ...targetsOf(view)].map((each) => askSidecarStatus(each, REQUEST_MS))),
    findElsewhere(view, sidecars),
  ]);
  const rest = { foundBy, sidecars: states, sockets, processes };
  const elsewhere = states.every(({ ready }) => ready !== false) ? [] : others;
  return { version: 1, time, ...rest, findings: findingsOf(rest, { doubts, elsewhere, isByInit: view.isByInit }) };
}

type StatusCall = Call<typeof options>;

/** The options by which the pod is judged. */
interface View {
  readonly settings: SidecarSettings & Settings<"caFile">;
  /** What set `--sidecar`. */
  readonly origin: string;
  readonly env: Environment;
  /** What an `ebb wait` that is PID 1 waits for beside the sidecars. */
  readonly targets: readonly Probe[];
  /** Whether they are those of PID 1. */
  readonly isByInit: boolean;
}

/** Resolves with the options of PID 1 if that is an ebb, unless the call itself has a flag that names sidecars. */
async function chooseView(call: StatusCall, env: Environment): Promise<View> {
  const { json: _, watch: __, ...naming } = call.origins;
  const init = Object.values(naming).some((origin) => origin.startsWith("--")) ? undefined : readInitCall();
  const own = {
    settings: { ...call.values, quit: [] },
    origin: call.origins.sidecar,
    env,
    targets: [],
    isByInit: false,
  };
  if (init === undefined) return own;
  const { readWaitingCall } = await import("../compat/waiting-call.ts");
  const initEnv = init.env ?? env;
  const waiting = readWaitingCall(init.words, initEnv);
  if (waiting === undefined) return own;
  const { values: settings, origins, targets } = waiting;
  return { settings, origin: origins.sidecar, env: initEnv, targets, isByInit: true };
}

function createLook(env: Environment) {
  const log = beginLog({ logLevel: "warn", logFormat: "auto", quiet: false }, { env });
  return { env, forMs: 0, signal: AbortSignal.timeout(REQUEST_MS), log };
}

async function find({ settings, origin, env, isByInit }: View) {
  const { isAuto, named } = settings.sidecar;
  let foundBy = isAuto && named.length === 0 ? null : origin;
  const onFound = (by: string): void => {
    foundBy = by;
  };
  const here = await findSidecars(settings, { ...createLook(env), onFound });
  const unnamed = unnamedFor(["wait", "drain"], here, settings);
  const doubts = [...here.doubts, ...unnamed.map(whyUnnamed)];
  const sidecars = here.sidecars.filter(({ name, ready }) =>
    name === "custom" ? ready.length > 0 : !unnamed.includes(name),
  );
  return { sidecars, foundBy: isByInit && foundBy?.startsWith("--") ? `${foundBy} of PID 1` : foundBy, doubts };
}

function targetsOf({ targets }: View): readonly Sidecar[] {
  const custom = { name: "custom", isNative: false, envoy: undefined, quits: [], processes: [] } as const;
  return targets.length === 0 ? [] : [{ ...custom, ready: targets }];
}

/** Resolves with the proxies that answer at usual ports, but at no admin interface of `sidecars`. */
async function findElsewhere({ settings, env }: View, sidecars: readonly Sidecar[]): Promise<readonly Elsewhere[]> {
  const pod = { env, annotations: readAnnotations(settings.podAnnotations) };
  const searchPorts = createPortSearch(pod, settings, {
    ...createLook(env),
    network: await readNetwork(settings, env),
  });
  return elsewhereIn((await searchPorts()).findings, sidecars);
}

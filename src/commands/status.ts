import type { Command, Invocation } from "../command.ts";
import type { Environment } from "../core/base/environment.ts";
import { type Call, readFlagCall } from "../core/cli/call.ts";
import { pickOptions } from "../core/cli/options.ts";
import { type EnvoyStatus, envoyStatus } from "../core/envoy/status.ts";
import { summarizeSockets } from "../core/proc/net.ts";
import { EXIT } from "../core/run/exit.ts";
import { describeProbe, type Probe } from "../core/sidecars/probe.ts";
import { inboundOf } from "../core/sidecars/registry.ts";
import type { Sidecar } from "../core/sidecars/sidecar.ts";
import { findingsOf } from "../core/status/findings.ts";
import { processesOf } from "../core/status/proc-pid.ts";
import type { ProbeStatus, SidecarStatus, Snapshot } from "../core/status/snapshot.ts";
import { statusLines } from "../core/status/text.ts";
import { askForStatus } from "../system/envoy/ask-status.ts";
import { isTerminal } from "../system/output/live.ts";
import { createLog } from "../system/output/log.ts";
import { writeControl, writeOutput } from "../system/output/output.ts";
import { readSettledProcesses } from "../system/process/processes.ts";
import { readSocketsAt, readSocketTables } from "../system/process/sockets.ts";
import { findSidecars } from "../system/sidecars/find.ts";
import { probeOnce } from "../system/sidecars/ready.ts";

const options = pickOptions(
  ...(["sidecar", "admin", "ready", "podAnnotations", "hostNetwork", "appPort", "json", "watch"] as const),
);

/** The time for each request. All are sent at the same time. */
const REQUEST_MS = 2000;
const WATCH_PERIOD_MS = 1000;
/** ECMA-48: moves the cursor to the upper left corner, and erases the screen. */
const CLEAR = "\x1b[H\x1b[2J";

/**
 * `ebb status` shows what is going on in this pod. Exits with 0 whatever it sees: `ebb wait` tells ready from not
 * ready. With --watch it repeats that each second, until a stop signal comes or stdout has no reader.
 */
export const command: Command = {
  summary: "show the sidecars' state, what listens here, and what stands out",
  usage: "status [--json] [--watch] [flags]",
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

async function takeSnapshot(call: Call<typeof options>, env: Environment): Promise<Snapshot> {
  const time = new Date().toISOString();
  const { sidecars, foundBy, doubts } = await find(call, env);
  // before the requests, whose own connections must not be shown
  const seen = await readSettledProcesses();
  const sockets = summarizeSockets(readSocketTables(), seen?.owners ?? new Map());
  const processes = seen === undefined ? null : processesOf(seen);
  const states = await Promise.all(sidecars.map(statusOf));
  const rest = { foundBy, sidecars: states, sockets, processes };
  return { version: 1, time, ...rest, findings: findingsOf(rest, doubts) };
}

async function find({ values, origins }: Call<typeof options>, env: Environment) {
  const log = createLog({ logLevel: "warn", logFormat: "auto", quiet: false }, { env });
  let foundBy = values.sidecar === "auto" ? null : origins.sidecar;
  const onFound = (by: string): void => {
    foundBy = by;
  };
  const look = { env, forMs: 0, signal: AbortSignal.timeout(REQUEST_MS), log, onFound };
  const { sidecars, doubts } = await findSidecars({ ...values, quit: [] }, look);
  return { sidecars, foundBy, doubts };
}

async function statusOf({ name, isNative, ready, envoy }: Sidecar): Promise<SidecarStatus> {
  const [probes, envoyState] = await Promise.all([Promise.all(ready.map(probe)), envoy && stateOf(name, envoy)]);
  return { name, native: isNative, ready: probes.every(({ ready }) => ready), probes, envoy: envoyState ?? null };
}

async function stateOf(name: Sidecar["name"], envoy: NonNullable<Sidecar["envoy"]>): Promise<EnvoyStatus> {
  const inbound = inboundOf(name);
  const sockets = readSocketsAt(envoy.admin.address);
  const answers = await askForStatus(envoy.admin, { withinMs: REQUEST_MS, inbound });
  return envoyStatus({ ...envoy, inbound, sockets }, answers);
}

async function probe(probe: Probe): Promise<ProbeStatus> {
  const verdict = await probeOnce(probe, REQUEST_MS);
  return { target: describeProbe(probe), ready: verdict.ready, reason: verdict.ready ? null : verdict.reason };
}

import { formatDuration } from "../../../shared/core/duration.ts";
import { oneLine, shortened } from "../../../shared/core/text.ts";
import { counted, describeAddress } from "../../../shared/core/wording.ts";
import { kindOf } from "../../../shared/sidecars/core/registry.ts";
import type { EnvoyStatus } from "../../envoy/core/status.ts";
import type { SocketsStatus } from "../../process/core/net.ts";
import { type Elsewhere, elsewhereFinding } from "./elsewhere.ts";
import type { ProbeStatus, ProcessesStatus, SidecarStatus, Snapshot, StatusFinding } from "./snapshot.ts";

type Seen = Omit<Snapshot, "findings" | "version" | "time">;

/** What a look at the pod tells beside the snapshot. */
export interface Looked {
  /** Why proxies that only a port suggests are left alone. */
  readonly doubts: readonly string[];
  /** Proxies that answer where no sidecar of the snapshot is asked. */
  readonly elsewhere: readonly Elsewhere[];
  /** Whether the snapshot has what PID 1, an ebb, waits for. */
  readonly isByInit: boolean;
}

/**
 * Returns what stands out in a pod, in words, in this order: sidecars, proxies that are not asked, processes, sockets.
 * Returns an empty list if nothing does.
 */
export function findingsOf(seen: Seen, looked: Looked): readonly StatusFinding[] {
  const { sidecars, sockets, processes, foundBy } = seen;
  const { doubts, elsewhere } = looked;
  return [
    ...sidecars.flatMap(sidecarFindings),
    ...doubts.map((message): StatusFinding => ({ kind: "not-proved", message })),
    ...elsewhere.map(elsewhereFinding),
    ...agentFindings(seen),
    ...(processes === null ? [noProcesses] : processFindings(processes, sidecars, looked)),
    ...(sockets === null ? [noSockets] : socketFindings(sockets)),
    ...(sidecars.length + doubts.length === 0 ? [noSidecar(foundBy)] : []),
  ];
}

function noSidecar(foundBy: string | null): StatusFinding {
  const message =
    foundBy === null
      ? "no sidecar found: no variable, annotation or listening port shows one; name it with --sidecar NAME, or --admin URL"
      : `no sidecar: ${foundBy} says that there is none`;
  return { kind: "no-sidecar", message };
}

const noProcesses: StatusFinding = { kind: "no-processes", message: "/proc cannot be read: processes cannot be seen" };
const noSockets: StatusFinding = { kind: "no-sockets", message: "/proc/net cannot be read: sockets cannot be seen" };

const appUnseen: StatusFinding = {
  kind: "app-unseen",
  message:
    "the app is in another container and cannot be seen from here. If kubectl get pod says that it has ended, the sidecar keeps the pod alive: run ebb quit here instead of ebb status",
};

function sidecarFindings({ name, probes, envoy }: SidecarStatus): readonly StatusFinding[] {
  const notReady = probes
    .filter(({ ready }) => !ready)
    .map(
      ({ target, reason }): StatusFinding => ({
        kind: "not-ready",
        message: `${name} is not ready: ${target}: ${reason}`,
      }),
    );
  return [...notReady, ...(envoy === null ? [] : envoyFindings(name, envoy))];
}

/** What the states before LIVE mean (Envoy, api/envoy/admin/v3/server_info.proto). */
const stateMeanings: Readonly<Record<string, string>> = {
  PRE_INITIALIZING:
    "its clusters still wait for endpoints or secrets from the control plane, or for DNS; its log and ebb request clusters say which",
  INITIALIZING: "it still waits for listeners or routes from the control plane; its log says why",
};

function envoyFindings(name: string, envoy: EnvoyStatus): readonly StatusFinding[] {
  const { state, problems, admin, drained, inFlight, listeners } = envoy;
  const found: StatusFinding[] = problems.map((problem) => ({
    kind: "admin",
    message: `${name}: its admin interface ${admin} did not answer everything: ${problem}`,
  }));
  const meaning = stateMeanings[state ?? ""];
  if (meaning !== undefined) found.push({ kind: "initializing", message: `${name} is ${state}: ${meaning}` });
  if (state === "DRAINING") {
    const reason = "its health checks were set to fail (POST /healthcheck/ok reverts that)";
    found.push({ kind: "draining", message: `${name} is draining: ${reason}; ${describeInFlight(envoy)}` });
  } else if (drained !== null && drained > 0 && inFlight !== null && inFlight.requests + inFlight.connections > 0) {
    // to replace a listener closes connections too: that is worth a finding only while something is in flight
    const closed = `${counted(drained, "connection")} closed`;
    found.push({
      kind: "drained",
      message: `${name} (state ${state}) was drained: ${closed}; ${describeInFlight(envoy)}`,
    });
  }
  if (state === "LIVE" && listeners.length === 0 && problems.length === 0) {
    found.push({
      kind: "no-listeners",
      message: `${name} is LIVE but has no listener: it was drained, or its control plane has not configured it`,
    });
  }
  return found;
}

/** Formats what an Envoy has in flight, for people: `2 requests and 1 connection still in flight`. */
export function describeInFlight({ inFlight }: EnvoyStatus): string {
  if (inFlight === null) return "what is in flight cannot be seen";
  const { requests, connections, hasRequests } = inFlight;
  if (requests + connections === 0) return "nothing in flight";
  const idle = hasRequests ? "" : " (including idle ones: it does not show its requests)";
  return `${counted(requests, "request")} and ${counted(connections, "connection")}${idle} still in flight`;
}

/** Finds an agent whose port is closed while its Envoy still answers: an agent closes its port at SIGTERM. */
function agentFindings({ sidecars, sockets }: Seen): readonly StatusFinding[] {
  return sidecars.flatMap(({ name, envoy }): readonly StatusFinding[] => {
    const agent = name === "custom" ? undefined : kindOf(name).agent;
    const isEnvoyThere = (envoy?.state ?? null) !== null;
    if (agent === undefined || sockets === null || !isEnvoyThere) return [];
    if (sockets.listening.some(({ port }) => port === agent.port)) return [];
    const message = `nothing listens on ${agent.port}, but ${name}'s Envoy answers: ${agent.name} is stopping or has exited, so the usual shutdown request fails; look at the sidecar's log, or delete the pod`;
    return [{ kind: "no-agent", message }];
  });
}

/** An ebb that is younger than this has only begun to wait. */
const YOUNG_MS = 5000;

function describeMissing({ target, reason }: ProbeStatus): string {
  return `${target}: ${reason}`;
}

/** Reports an `ebb run` or `ebb wait` as PID 1 that has no command, and what of its sidecars is not ready. */
function notStarted(
  { init, initIsEbb, child }: ProcessesStatus,
  sidecars: readonly SidecarStatus[],
  isByInit: boolean,
): readonly StatusFinding[] {
  const ageMs = init?.ageMs ?? 0;
  const waits = initIsEbb && child === null && init?.command.includes("--") === true && init.pid === 1;
  if (!waits || ageMs < YOUNG_MS) return [];
  const call = shortened(oneLine(init.command.join(" ")), LONGEST_CALL);
  const missing = sidecars.flatMap(({ probes }) => probes.filter(({ ready }) => !ready).map(describeMissing));
  const ready =
    "everything that it waits for is ready, so it is starting its command or shutting down the sidecars; its log says which";
  const unseen = `it waits for what its own options name (${call}), or it is shutting down the sidecars; its log says which`;
  const reason = !isByInit ? unseen : missing.length > 0 ? `it waits for ${missing.join("; ")} (${call})` : ready;
  const message = `ebb (PID 1) runs for ${formatDuration(ageMs)} and its command does not run: ${reason}`;
  return [{ kind: "not-started", message }];
}

const LONGEST_CALL = 200;

function processFindings(
  processes: ProcessesStatus,
  sidecars: readonly SidecarStatus[],
  { isByInit }: Looked,
): readonly StatusFinding[] {
  const { init, child, zombies, appEnded, appSeen } = processes;
  const found: StatusFinding[] = [];
  if (appEnded === true && sidecars.length > 0) {
    found.push({ kind: "app-ended", message: "the app has ended, but the sidecar still runs: ebb quit ends it" });
  }
  found.push(...notStarted(processes, sidecars, isByInit));
  if (!appSeen && sidecars.length > 0) found.push(appUnseen);
  const app = child ?? init;
  if (app?.state === "stopped" || app?.state === "uninterruptible") {
    const meaning = app.state === "stopped" ? "it waits for SIGCONT" : "it waits for a disk or a network file system";
    found.push({ kind: "app-stuck", message: `the app (process ${app.pid}, ${app.name}) is ${app.state}: ${meaning}` });
  }
  if (zombies.length > 0) {
    const names = [...new Set(zombies.map(({ name }) => name))].slice(0, 3).join(", ");
    const parents = [...new Set(zombies.map(({ parent }) => parent))];
    const who = parents.length === 1 ? `process ${parents[0]} does` : `processes ${parents.slice(0, 3).join(", ")} do`;
    const message = `${counted(zombies.length, "zombie")} (${names}): ${who} not reap what has ended`;
    found.push({ kind: "zombies", message });
  }
  return found;
}

/** From so many connections on that the peer has closed and the process has not, it is not a coincidence. */
const MANY_CLOSE_WAIT = 10;

function socketFindings({ listening }: SocketsStatus): readonly StatusFinding[] {
  return listening.flatMap((socket) => {
    const where = `${describeAddress(socket)}${socket.process === null ? "" : ` (${socket.process})`}`;
    const found: StatusFinding[] = [];
    if ((socket.backlog ?? 0) > 0) {
      const waiting = counted(socket.backlog ?? 0, "connection");
      found.push({
        kind: "not-accepting",
        message: `${where}: ${waiting} not accepted yet: the process is busy or stuck`,
      });
    }
    const left = socket.connections.close_wait ?? 0;
    if (left >= MANY_CLOSE_WAIT) {
      found.push({
        kind: "close-wait",
        message: `${where}: ${left} connections in CLOSE_WAIT: their clients have closed them, the process has not; it hangs, or leaks them`,
      });
    }
    return found;
  });
}

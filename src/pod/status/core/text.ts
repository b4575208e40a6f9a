import { columns } from "../../../shared/core/columns.ts";
import { formatDuration } from "../../../shared/core/duration.ts";
import { oneLine } from "../../../shared/core/text.ts";
import { counted, describeAddress } from "../../../shared/core/wording.ts";
import type { EnvoyStatus } from "../../envoy/core/status.ts";
import type { Counts, ListeningSocket } from "../../process/core/net.ts";
import { describeInFlight } from "./findings.ts";
import type { ProcessesStatus, ProcessStatus, SidecarStatus, Snapshot } from "./snapshot.ts";

/** Formats a snapshot as the lines that `ebb status` prints, with control characters escaped by `oneLine`. */
export function statusLines(snapshot: Snapshot): readonly string[] {
  const { sidecars, foundBy, sockets, processes, findings } = snapshot;
  const sections = [
    sidecars.flatMap((sidecar) => sidecarLines(sidecar, foundBy)),
    sockets === null ? [] : socketLines(sockets.listening, sockets.outgoing, processes),
    processes === null ? [] : processLines(processes),
    findings.length === 0 ? ["nothing stands out"] : findings.map(({ message }) => `! ${message}`),
  ];
  const lines = sections.filter(({ length }) => length > 0).flatMap((section) => ["", ...section]);
  return lines.slice(1).map(oneLine);
}

function sidecarLines(
  { name, native, ready, probes, envoy }: SidecarStatus,
  foundBy: string | null,
): readonly string[] {
  const readiness = ready === null ? "not asked" : ready ? "ready" : "NOT READY";
  const state = [envoy?.state ?? [], readiness, native ? "native" : []].flat().join(", ");
  const rows = probes.map(({ target, reason }) => ["ready", `${target}${reason === null ? "" : `: ${reason}`}`]);
  const by = foundBy === null ? [] : [["found by", foundBy]];
  const all = [...by, ...rows, ...(envoy === null ? [] : envoyRows(envoy))];
  return [`${name}: ${state}`, ...indent(columns(all)), ...(envoy === null ? [] : listenerLines(envoy))];
}

function envoyRows(envoy: EnvoyStatus): readonly (readonly string[])[] {
  const { admin, release, uptimeMs, epoch, state, drainStrategy, drainTimeMs, drained } = envoy;
  const life = [
    release === null ? [] : `Envoy ${release}`,
    uptimeMs === null ? [] : `up ${formatDuration(uptimeMs)}`,
    epoch === null ? [] : `hot restart epoch ${epoch}`,
  ].flat();
  const drain = [
    state === null ? [] : state === "DRAINING" ? "draining" : "not draining",
    drainStrategy ?? [],
    drainTimeMs === null ? [] : `within ${formatDuration(drainTimeMs)}`,
    drained === null ? [] : `${counted(drained, "connection")} closed by it so far`,
  ].flat();
  return [
    ["admin", admin],
    ...(life.length === 0 ? [] : [["version", life.join(", ")]]),
    ...(drain.length === 0 ? [] : [["drain", drain.join(", ")]]),
    ["in flight", describeInFlight(envoy)],
  ];
}

function listenerLines({ listeners }: EnvoyStatus): readonly string[] {
  if (listeners.length === 0) return [];
  const rows = listeners.map(({ name, address, direction, connections }) => [
    name,
    address ?? "(internal)",
    direction ?? "-",
    connections === null ? "?" : `${connections}`,
  ]);
  return indent(columns([["LISTENER", "ADDRESS", "DIRECTION", "CONNECTIONS"], ...rows]));
}

function socketLines(
  listening: readonly ListeningSocket[],
  outgoing: Counts,
  processes: ProcessesStatus | null,
): readonly string[] {
  const rows = listening.map((socket) => [
    describeAddress(socket),
    describeCounts(socket.connections),
    socket.pid === null ? "?" : `${socket.pid} ${socket.process}`,
  ]);
  const table = columns([["LISTENING", "CONNECTIONS", "PROCESS"], ...rows]);
  const isOwnerMissing = listening.some(({ pid }) => pid === null);
  return [
    ...table,
    `outgoing connections: ${describeCounts(outgoing)}`,
    ...(isOwnerMissing ? [`?: ${whyNoOwner(processes)}`] : []),
  ];
}

function whyNoOwner(processes: ProcessesStatus | null): string {
  if (processes === null) return "/proc cannot be read";
  const { unreadable, shared } = processes;
  const others = `the descriptors of ${counted(unreadable, "process", "processes")} of other users cannot be read`;
  const elsewhere = "a process of another container, which is not seen here (shareProcessNamespace)";
  return (
    [shared === true ? [] : elsewhere, unreadable === 0 ? [] : others].flat().join("; or: ") || "it has just ended"
  );
}

function processLines(processes: ProcessesStatus): readonly string[] {
  const { count, shared, init, initIsEbb, child, zombies } = processes;
  const namespaces = { true: "including those of other containers", false: "this container's", null: "" };
  const rows = [
    ["processes", [`${count}`, namespaces[`${shared}`]].filter(Boolean).join(", ")],
    ...(init === null ? [] : [[`PID 1${initIsEbb ? ", ebb" : ""}`, describeProcess(init)]]),
    ...(child === null ? [] : [["its command", describeProcess(child)]]),
    ...(zombies.length === 0 ? [] : [["zombies", zombies.map(({ pid, name }) => `${pid} ${name}`).join(", ")]]),
  ];
  return columns(rows);
}

const LONGEST_COMMAND = 100;

function describeProcess({ pid, name, command, state, ageMs }: ProcessStatus): string {
  const words = command.length === 0 ? `(${name})` : command.join(" ");
  const text = words.length > LONGEST_COMMAND ? `${words.slice(0, LONGEST_COMMAND)}...` : words;
  return `${pid} ${text}: ${state}${ageMs === null ? "" : `, for ${formatDuration(ageMs)}`}`;
}

function describeCounts(counts: Counts): string {
  const parts = Object.entries(counts).map(([state, number]) => `${number} ${state}`);
  return parts.length === 0 ? "none" : parts.join(", ");
}

function indent(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`);
}

import { columns } from "../../../shared/core/columns.ts";
import { oneLine } from "../../../shared/core/text.ts";
import type { EbbProgram } from "./ebb-in.ts";
import type { ContainerRow, PodRow, PodSummary } from "./pod-status.ts";
import type { PodReason } from "./why.ts";

/** What a table shows beside its usual columns. */
interface TableShape {
  /** -A: the pods are of several namespaces. */
  readonly hasNamespace: boolean;
  /** -o wide */
  readonly isWide: boolean;
}

/** Formats pods as `kubectl get` does. */
export function podTable(rows: readonly PodRow[], { hasNamespace, isWide }: TableShape): readonly string[] {
  const head = ["NAME", "APP", "SIDECAR", "EBB", "STATE"];
  const lines = rows.map((row) => {
    const { namespace, name, ebb, image, state, why } = row;
    const cells = [name, appCell(row), sidecarCell(row), ebb, state, ...(isWide ? [image ?? "-", why] : [])];
    return (hasNamespace ? [namespace, ...cells] : cells).map(oneLine);
  });
  return columns([[...(hasNamespace ? ["NAMESPACE"] : []), ...head, ...(isWide ? ["IMAGE", "WHY"] : [])], ...lines]);
}

function appCell({ containers }: PodSummary): string {
  const apps = containers.filter(({ role }) => role === "app").map(stateText);
  return [...new Set(apps)].join(",") || "-";
}

function sidecarCell({ containers }: PodSummary): string {
  const beside = containers.filter(({ role, sidecar }) => role !== "init" && role !== "ephemeral" && sidecar !== null);
  return (
    [...new Set(beside.map(({ sidecar, role }) => `${sidecar}${role === "native" ? "(native)" : ""}`))].join(",") || "-"
  );
}

function stateText({ state, exitCode, reason }: ContainerRow): string {
  if (exitCode !== null) return `exit ${exitCode}`;
  return state === "waiting" ? (reason ?? state) : state;
}

/** Formats what the API server tells of one pod, and what it therefore is. */
function stateLines({ namespace, name, phase, job, containers, stuck, state, why }: PodRow): readonly string[] {
  const rows = containers.map((each) => [
    each.name,
    each.role,
    each.sidecar ?? "-",
    [stateText(each), each.finishedAt === null ? [] : `at ${each.finishedAt}`].flat().join(" "),
  ]);
  const head = [`pod ${namespace}/${name}: ${phase ?? "no phase"}`, job === null ? [] : `of Job ${job}`].flat();
  const table = columns([["CONTAINER", "ROLE", "SIDECAR", "STATE"], ...rows]);
  return [head.join(", "), "", ...table, "", stuck ? `stuck: ${why}` : `not stuck: ${state}: ${why}`];
}

/**
 * Formats one pod: what the API server tells, and the `text` that the ebb in it printed. Without an ebb, says how to
 * ask.
 */
export function podLines(row: PodRow, ebb: EbbProgram | undefined, text: string | undefined): readonly string[] {
  const rest = text === undefined ? [] : ["", ...text.trimEnd().split("\n")];
  const hint = ebb === undefined && row.containers.some(({ state }) => state === "running") ? ["", howToAsk(row)] : [];
  return [...stateLines(row), ...rest, ...hint].map(oneLine);
}

function howToAsk({ namespace, name }: PodSummary): string {
  const pod = `-n ${namespace} ${name}`;
  return `no ebb in its spec: kubectl exec ${pod} -- /ebb status if its image has one, else kubectl debug ${pod} -it --image=IMAGE -- /ebb status, with ebb's image`;
}

/** Formats why a pod is stuck or not, and what would end it. */
export function reasonLines(reason: PodReason): readonly string[] {
  const { stuck, why, holds, methods, end } = reason;
  const rest = holds.filter((each) => each.reason !== why);
  const lines = [
    ...stateLines(reason),
    ...(rest.length === 0 ? [] : [stuck ? "the reaper leaves it, because:" : "also:"]),
    ...rest.map((each) => `  ${each.rule}: ${each.reason}`),
    ...(methods.length === 0 ? [] : ["what ends it (--end does it), in this order:"]),
    ...methods.map(({ method, problem }) => `  ${method}${problem === null ? "" : `: ${problem}`}`),
    ...(end === null ? [] : [`${end.result}: ${end.why}`]),
  ];
  return lines.map(oneLine);
}

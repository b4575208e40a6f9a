import { median } from "../statistics.ts";
import { number, type Table } from "../table.ts";
import { DEREGISTERED_MS } from "./drain-client.ts";
import type { Drained } from "./drain-inside.ts";
import { load } from "./drain-load.ts";
import { shown, type Way } from "./drain-ways.ts";
import { SOCKET_MS } from "./drain-work.ts";

/** The result of a drain under load. */
export interface UnderLoad extends Drained {
  readonly way: Way;
}

/** The description of the load. */
export const setting =
  `a real Envoy, ${load.quick + load.slow} keep-alive clients: ${load.quick} ask for 20-200 ms each, ${load.slow} for 3-9 s; ` +
  `a WebSocket of ${SOCKET_MS / 1000} s, an idle connection; no new requests ${DEREGISTERED_MS / 1000} s after the beginning`;

/** Counts the requests and WebSockets, and those of them that were lost. */
export function lossOf({ inFlight }: Pick<Drained, "inFlight">): { readonly count: number; readonly lost: number } {
  const work = inFlight.filter(({ kind }) => kind !== "idle");
  return { count: work.length, lost: work.filter(({ lost }) => lost !== undefined).length };
}

/** Makes the table of the ways' names and what they stand for. */
export function legendTable(ways: readonly Way[]): Table {
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

/** The results of a way, one for each round. */
interface Results {
  readonly way: Way;
  readonly results: readonly Drained[];
}

/** Makes the table of a scenario: one kind of work in flight, drained in each way. */
export function scenarioTable(title: string, all: readonly Results[], rounds: number): Table {
  return {
    title: `drain: ${title}`,
    shows: [`medians of ${rounds}; lost: of all rounds`],
    columns: ["", "hook ends after s", "Envoy goes after s", "lost"],
    rows: all.filter(({ results }) => results.length > 0).map(row),
  };
}

function row({ way: { name }, results }: Results): readonly string[] {
  const losses = results.map(lossOf);
  const [lost, count] = [sum(losses.map((each) => each.lost)), sum(losses.map((each) => each.count))];
  return [
    name,
    seconds(median(results.map(({ drainedMs }) => drainedMs ?? Number.POSITIVE_INFINITY))),
    seconds(median(results.map(({ goneMs }) => goneMs ?? Number.POSITIVE_INFINITY))),
    count === 0 ? "" : `${lost} of ${count}`,
  ];
}

/** Makes the table of what each way loses under load. */
export function loadTable(all: readonly UnderLoad[]): Table {
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

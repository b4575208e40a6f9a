import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bar, type Item, type Picture, scale, type Tone, text } from "./scene.ts";

// How a pod stops, at the times of a real run: its log is stop.log, of test/cluster/run/stop-log.test.ts. The limits are
// those of its command line.

/** The lines of that log. */
export const log: readonly string[] = readFileSync(
  join(import.meta.dirname, "../../src/manual/pictures/stop.log"),
  "utf8",
).split("\n");
const limits = { minDrain: 5, drain: 20, grace: 5, pod: 30 };

const deleted = timeOf(/"request":"DELETE"/);

/** Returns the seconds from the pod's deletion to the first line that matches. */
function secondsOf(line: RegExp): number {
  return (timeOf(line) - deleted) / 1000;
}

function timeOf(line: RegExp): number {
  const [, time] = log.find((one) => line.test(one))?.split(" ") ?? [];
  if (time === undefined) throw new Error(`stop.log has no line ${line}`);
  return Date.parse(time);
}

const lastNew = Math.max(
  ...log.map((line) => (Date.parse(/"sent":"(\S+?)","ms":300/.exec(line)?.[1] ?? "") - deleted) / 1000 || 0),
);
const lastCall = Math.max(
  ...log.map((line) => (Date.parse(/"called":"(\S+?)","status":200/.exec(line)?.[1] ?? "") - deleted) / 1000 || 0),
);
const at = {
  unready: secondsOf(/^\[api\/endpointslice\] .*"terminating":true/),
  stop: secondsOf(/received a stop signal/),
  listeners: secondsOf(/\/app\] .*draining the listeners/),
  answered: secondsOf(/"ms":10000/),
  drained: secondsOf(/\/app\] .*drain ended/),
  term: secondsOf(/the app got SIGTERM/),
  proxy: secondsOf(/caught ENVOY_SIGTERM/),
  exit: secondsOf(/"ebb: done"/),
  gone: secondsOf(/"DELETED"/),
};

const LEFT = 2;
const PER_SECOND = 2;
const x = (seconds: number) => LEFT + seconds * PER_SECOND;
const said = (seconds: number) => (seconds === 0 ? "0" : seconds.toFixed(1));

/** The rows from top to bottom: each adds what it has at its row. */
const rows: readonly ((row: number) => readonly Item[])[] = [
  (row) => [text([0, row], "Seconds after the pod was deleted", "dim")],
  (row) => [0, 5, 10, 15, 20, 25, 30].map((tick) => text([x(tick), row], `${tick}`, "dim", "centred")),
  (row) => [scale(row, [0, 5, 10, 15, 20, 25, 30].map(x))],
  gap,
  heading("Calls to the pod"),
  lane(0, at.unready, "idle", "ready in the Service's endpoints"),
  lane(0, lastNew, "proxy", "a late load balancer sends new requests"),
  lane(0, at.answered, "proxy", "the longest request is in flight"),
  gap,
  heading(`\`ebb run\`, in the app's container: SIGTERM at ${said(at.stop)}`),
  lane(at.stop, at.listeners, "ebb", "health checks fail; still accepts"),
  limit(at.stop, limits.minDrain, "`--min-drain 5s`"),
  lane(at.listeners, at.drained, "ebb", "drains listeners until idle"),
  limit(at.stop, limits.drain, "`--drain 20s` at most"),
  gap,
  heading("The app"),
  lane(0, at.term, "app", "serves"),
  lane(at.term, at.exit, "app", "SIGTERM; ends by itself"),
  limit(at.term, limits.grace, "`--grace 5s`, then SIGKILL"),
  lane(0, lastCall, "app", "calls others"),
  gap,
  heading("The proxy: an ordinary sidecar with a preStop hook"),
  lane(0, at.proxy, "proxy", "`ebb hold` runs, then SIGTERM"),
  gap,
  heading("The whole pod"),
  lane(0, at.gone, "idle", "the pod is there"),
  limit(at.stop, limits.pod - 1, ""),
  (row) => [text([LEFT + 1, row], "`--pod-grace 30s`: drain and grace end 1 s before it", "dim")],
  limit(at.stop, limits.pod, ""),
  (row) => [text([LEFT + 1, row], "`terminationGracePeriodSeconds: 30`, then SIGKILL to all", "dim")],
];

function gap(): readonly Item[] {
  return [];
}

function heading(content: string): (row: number) => readonly Item[] {
  return (row) => [text([0, row], content, "plain", "bold")];
}

/** A bar, and on its right from when to when it lasts, and what it is. */
function lane(from: number, to: number, tone: Tone, what: string): (row: number) => readonly Item[] {
  const note = `${said(from)}–${said(to)}  ${what}`;
  return (row) => [bar([x(from), row], x(to), tone), text([Math.max(x(to), x(from) + 1) + 1, row], note)];
}

/** A limit that begins at a time, and lasts for so many seconds at most. */
function limit(from: number, seconds: number, note: string): (row: number) => readonly Item[] {
  return (row) => [scale(row, [x(from), x(from + seconds)]), text([x(from + seconds) + 1.5, row], note, "dim")];
}

export const stop: Picture = {
  name: "stop",
  title: "How a pod stops: the events of a real run, and the limits that the options set",
  items: rows.flatMap((row, index) => row(index)),
};

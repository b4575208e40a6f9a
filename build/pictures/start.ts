import { bar, type Item, type Picture, type Tone, text } from "./scene.ts";

// How the pod of a Job starts and ends. The times are not to scale.

interface Lane {
  readonly name: string;
  readonly bars: readonly Bar[];
  readonly note: string;
  readonly fails?: boolean;
}

interface Bar {
  readonly from: number;
  readonly to: number;
  readonly tone: Tone;
}

const span = (from: number, to: number, tone: Tone): Bar => ({ from, to, tone });
const starting = span(6, 15, "idle");

const scenes: Readonly<Record<string, readonly Lane[]>> = {
  "An ordinary sidecar, without ebb": [
    { name: "proxy", bars: [starting, span(15, 35, "proxy")], note: "never ends: the Job hangs", fails: true },
    { name: "app", bars: [span(8, 14, "lost"), span(14, 26, "app")], note: "its first requests fail", fails: true },
  ],
  "An ordinary sidecar, with ebb": [
    { name: "proxy", bars: [starting, span(15, 28, "proxy")], note: "exits when it is asked to" },
    { name: "ebb", bars: [span(8, 15, "ebb"), span(26, 28, "ebb")], note: "waits, then asks it to exit" },
    { name: "app", bars: [span(15, 26, "app")], note: "all requests pass" },
  ],
  "A native sidecar, without ebb": [
    { name: "proxy", bars: [starting, span(15, 30, "proxy")], note: "the kubelet ends it last" },
    { name: "app", bars: [span(16, 28, "app")], note: "starts after startupProbe" },
  ],
  "A native sidecar, with ebb": [
    { name: "proxy", bars: [starting, span(15, 34, "proxy")], note: "the kubelet ends it last" },
    { name: "ebb", bars: [span(16, 20, "ebb")], note: "waits for a database, say" },
    { name: "app", bars: [span(20, 32, "app")], note: "all requests pass" },
  ],
};

const NOTE = 37;

function draw(): readonly Item[] {
  const items: Item[] = [];
  let row = 0;
  for (const [heading, lanes] of Object.entries(scenes)) {
    items.push(text([0, row], heading, "plain", "bold"));
    for (const { name, bars, note, fails = false } of lanes) {
      row += 1;
      items.push(text([0, row], name), ...bars.map(({ from, to, tone }) => bar([from, row], to, tone)));
      items.push(text([NOTE, row], note, fails ? "lost" : "plain"));
    }
    row += 2;
  }
  items.push(bar([0, row], 3, "idle"), text([4, row], "starts", "dim"));
  items.push(bar([14, row], 17, "lost"), text([18, row], "requests fail", "dim"));
  return items;
}

export const start: Picture = {
  name: "start",
  title: "How a Job's pod starts and ends, with an ordinary and a native sidecar, without and with ebb",
  items: draw(),
};

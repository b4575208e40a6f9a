import { expect, test } from "bun:test";
import { resolve } from "node:path";
import type { PeerRecord } from "../../../src/pod/run/core/peers.ts";
import { beside } from "../../binary/run/app-containers.ts";
import { childPath } from "../../harness/compiled.ts";
import { canUnshare, inParallel, startEbb, temporaryFolder, until } from "../../harness/ebb.ts";
import { within } from "../../harness/time.ts";
import { startEnvoy } from "../../stand-in/envoy.ts";
import { fakeSidecar } from "../../stand-in/sidecar.ts";

const source = process.env.EBB_SOURCE ?? resolve(import.meta.dirname, "../../../src");

/** It ends with 7: at SIGTERM, or 3 s after the plant is armed. It ends too where ebb is gone. */
const loop =
  'while kill -0 $PPID; do sleep 0.05; [ ! -e "$PLANT_WHEN" ] || n=$((n + 1)); [ $n -lt 60 ] || exit 7; done';
const app = ["/bin/sh", "-c", `trap "exit 7" TERM; echo ready; n=0; ${loop}`];

/** The sidecar is told to quit all the same. */
const plants: readonly string[] = [
  "pod/run/perform.ts drain throw",
  "pod/run/drain.ts drainCurrent throw",
  "pod/envoy/drain.ts drainAll later",
  "pod/envoy/drain-requests.ts command reject",
  "pod/run/perform.ts forward throw",
  "pod/run/announce-run.ts announceDrained throw",
  "pod/run/core/supervision.ts step throw",
  "pod/run/core/supervision.ts toQuitting throw",
  "pod/run/core/stop-answer.ts answerToStop throw",
  "pod/process/job-control.ts takeTerminalBack throw",
  "pod/run/core/summary.ts summarize throw",
  "shared/output/log.ts formatJson throw",
];

/** The quit itself fails: it is not sent, but the run ends. */
const silencing: readonly string[] = [
  "pod/run/quit-sidecars.ts quit throw",
  "pod/run/quit-sidecars.ts quitSidecars throw",
];

/**
 * With --last-of, whether a bug at the start or at the end costs the quit where the other app container has ended. Where
 * that runs, nothing is quit.
 */
const amongApps: readonly [plant: string, at: "start" | "end", isTold: boolean][] = [
  ["pod/run/peers.ts join throw", "start", false],
  ["pod/run/core/peers.ts parseRecord throw", "start", false],
  ["pod/run/peers.ts leave throw", "end", false],
  ["pod/run/core/peers.ts formatRecord throw", "end", false],
  ["pod/run/core/peers.ts whyNotLast throw", "end", false],
  ["pod/run/core/supervision.ts step throw", "end", true],
];

/** Much more than any run takes. */
const HANG_MS = 30_000;

/** ebb gets TERM once the app runs and the plant is armed. The app ends with 7, with or without TERM. */
async function runWith(plant: string, at: "start" | "end" = "end", peer?: PeerRecord) {
  using folder = temporaryFolder();
  const when = `${folder.path}/now`;
  await using envoy = await startEnvoy();
  const flags = ["--admin", envoy.url, "--drain", "2s", "--min-drain", "10ms", "--quit-timeout", "1s"];
  using pod = beside(peer);
  const through = [...pod.through, process.execPath, "--preload", resolve(import.meta.dirname, "plant.ts")];
  if (at === "start") await Bun.write(when, "");
  await using started = startEbb(["run", ...flags, ...pod.flags, "--", ...app], {
    program: `${source}/main.ts`,
    through,
    env: { PLANT: plant, PLANT_WHEN: when },
  });
  await until("the child is ready", () => started.stdout().includes("ready\n"));
  await Bun.write(when, "");
  started.kill("SIGTERM");
  const ended = await within(HANG_MS, started.ended);
  if (ended === undefined) throw new Error(`it hangs: ${plant}\n${started.stdout()}${started.stderr()}`);
  const { code, stderr } = ended;
  return {
    plant,
    code,
    isSaid: stderr.includes("Error: planted"),
    quits: envoy.requests.filter((one) => one === "POST /quitquitquit").length,
  };
}

test("a bug in a step, a drain or a quit is logged, and costs neither the app's exit code nor a quit", async () => {
  const seen: unknown[] = [];
  const planted = [...plants, ...silencing];
  const expected = planted.map((plant) => ({ plant, code: 7, isSaid: true, isTold: plants.includes(plant) }));
  await inParallel(
    planted,
    async (plant) => {
      const { quits, ...rest } = await runWith(plant);
      seen.push({ ...rest, isTold: quits > 0 });
    },
    4,
  );
  expect(seen.toSorted(byPlant)).toEqual(expected.toSorted(byPlant));
}, 120_000);

function byPlant(a: unknown, b: unknown): number {
  return JSON.stringify(a).localeCompare(JSON.stringify(b));
}

test.skipIf(!canUnshare("--mount"))(
  "with --last-of, a bug keeps the sidecars rather than quit them under another app, and the app's exit code",
  async () => {
    const cases = amongApps.flatMap(([plant, at, isTold]) =>
      ([true, false] as const).map((isLast) => ({ plant, at, isLast, isTold: isTold && isLast })),
    );
    const seen = await inParallel(
      cases,
      async ({ plant, at, isLast }) => {
        const peer = { state: isLast ? "ended" : "started", restarts: false } as const;
        const { code, isSaid, quits } = await runWith(plant, at, peer);
        return { plant, at, isLast, isTold: quits > 0, code, isSaid };
      },
      4,
    );
    expect(seen).toEqual(cases.map((each) => ({ ...each, code: 7, isSaid: true })));
  },
  120_000,
);

test("an error in quitting one sidecar costs the others nothing", async () => {
  using folder = temporaryFolder();
  await using first = await fakeSidecar();
  await using second = await fakeSidecar();
  const path = `${folder.path}/locate`;
  await Bun.write(path, "");
  const quits = ["--sidecar", "envoy", "--admin", first.url, "--quit", `+${second.url}/bye`, "--quit-timeout", "1s"];
  await using started = startEbb(["run", "--no-wait", ...quits, "--", childPath(), "exit", "7"], {
    program: `${source}/main.ts`,
    through: [process.execPath, "--preload", resolve(import.meta.dirname, "plant.ts")],
    env: { PLANT: "pod/quit/quit.ts endOne throw", PLANT_WHEN: path },
  });
  const { code, log } = await started.ended;
  expect({ code, asked: second.requests }).toEqual({ code: 7, asked: ["POST /bye"] });
  const broken = { level: "error", sidecar: "envoy", outcome: expect.stringContaining("bug in ebb") };
  expect(log).toContainEqual(expect.objectContaining(broken));
});

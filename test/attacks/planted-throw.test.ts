import { expect, test } from "bun:test";
import { resolve } from "node:path";
import { startFakeEnvoy } from "../binary/fake-envoy.ts";
import { childPath, fakeSidecar, inParallel, startEbb, temporaryFolder, until } from "../harness.ts";

const source = process.env.EBB_SOURCE ?? resolve(import.meta.dirname, "../../src");

/** It ends with 7 at SIGTERM. */
const app = ["/bin/sh", "-c", 'trap "exit 7" TERM; echo ready; while :; do sleep 0.05; done'];

/** What draining and quitting run through; whether the sidecar is told to quit all the same, as it is but where the action or the asking fails. */
const plants: readonly (readonly [plant: string, isTold: boolean])[] = [
  ["commands/run.ts drain throw", true],
  ["system/run/drain.ts drainKnown throw", true],
  ["system/envoy/drain.ts drainAll later", true],
  ["system/envoy/drain-steps.ts command reject", true],
  ["core/envoy/drain.ts step throw", true],
  ["commands/run.ts quit throw", false],
  ["system/run/quit.ts tellSidecars throw", true],
  ["system/quit.ts quitAll throw", true],
  ["system/quit.ts endOne throw", true],
  ["system/quit.ts perform throw", true],
  ["system/quit-request.ts askServer throw", false],
  ["core/sidecars/quitting.ts step throw", true],
  ["core/summary.ts summarize throw", true],
];

/** The app gets its TERM once it runs and the plant is armed, and ends with 7. */
async function runWith(plant: string) {
  using folder = temporaryFolder();
  const when = `${folder.path}/now`;
  await using envoy = await startFakeEnvoy();
  const flags = ["--admin", envoy.url, "--drain", "2s", "--min-drain", "10ms", "--quit-timeout", "1s"];
  const through = [process.execPath, "--preload", resolve(import.meta.dirname, "plant.ts")];
  await using started = startEbb(["run", ...flags, "--", ...app], {
    program: `${source}/main.ts`,
    through,
    env: { PLANT: plant, PLANT_WHEN: when },
  });
  await until("the child is ready", () => started.stdout().includes("ready\n"));
  await Bun.write(when, "");
  started.kill("SIGTERM");
  const { code, stderr } = await started.ended;
  return {
    plant,
    code,
    isSaid: stderr.includes("Error: planted"),
    quits: envoy.requests.filter((one) => one === "POST /quitquitquit").length,
  };
}

test("an error that nobody expects, in draining or quitting, is said, and costs neither the app's exit code nor a quit", async () => {
  const seen: unknown[] = [];
  const expected = plants.map(([plant, isTold]) => ({ plant, code: 7, isSaid: true, isTold }));
  await inParallel(
    plants,
    async ([plant]) => {
      const { quits, ...rest } = await runWith(plant);
      seen.push({ ...rest, isTold: quits > 0 });
    },
    4,
  );
  expect(seen.toSorted(byPlant)).toEqual(expected.toSorted(byPlant));
}, 60_000);

function byPlant(a: unknown, b: unknown): number {
  return JSON.stringify(a).localeCompare(JSON.stringify(b));
}

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
    env: { PLANT: "system/quit.ts endOne throw", PLANT_WHEN: path },
  });
  const { code, log } = await started.ended;
  expect({ code, asked: second.requests }).toEqual({ code: 7, asked: ["POST /bye"] });
  const broken = { level: "error", sidecar: "envoy", outcome: expect.stringContaining("bug in ebb") };
  expect(log).toContainEqual(expect.objectContaining(broken));
});

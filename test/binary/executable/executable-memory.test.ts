import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { childPath } from "../../harness/compiled.ts";
import { ebb, ebbPath, type Started, startEbb, temporaryFolder, until } from "../../harness/ebb.ts";
import { startEnvoy } from "../../stand-in/envoy.ts";
import { fakeSidecar } from "../../stand-in/sidecar.ts";
import { startCluster, startReaper, stuckPod } from "../cluster/reaper.ts";
import { startWebhook } from "../cluster/webhook/webhook.ts";

/** What a whole run shows of the memory that ebb may execute: each mapping's rights and name, once. */
interface Seen {
  readonly mappings: Set<string>;
  readonly samples: () => number;
}

/** Looks at it again and again until it ends. */
function watch({ pid, ended }: Pick<Started, "pid" | "ended">): Seen {
  const mappings = new Set<string>();
  let samples = 0;
  let isOver = false;
  void ended.finally(() => {
    isOver = true;
  });
  const look = (): void => {
    if (isOver) return;
    const seen = executable(pid);
    if (seen.includes(`r-xp ${ebbPath}`)) samples += 1;
    for (const mapping of seen) if (samples > 0) mappings.add(mapping);
    setImmediate(look);
  };
  look();
  return { mappings, samples: () => samples };
}

function executable(pid: number): readonly string[] {
  const lines = readMaps(pid)
    .split("\n")
    .map((line) => line.split(/ +/));
  return lines.filter(([, rights = ""]) => rights.includes("x")).map(([, rights, , , , name]) => `${rights} ${name}`);
}

function readMaps(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/maps`, "utf8");
  } catch {
    return ""; // it has just ended
  }
}

/** The file's own code, and what the kernel maps into each process. */
const known = [`r-xp ${ebbPath}`, "r-xp [vdso]", "--xp [vsyscall]"];

function expectNone({ mappings, samples }: Seen): void {
  expect([...mappings].filter((mapping) => !known.includes(mapping))).toEqual([]);
  expect(samples()).toBeGreaterThan(0);
}

/** From the start to the end of a call that ends by itself, and again if a busy machine has not looked meanwhile. */
async function expectNoneIn(args: readonly string[], code: number): Promise<void> {
  const seen = await until("it was looked at", async () => {
    await using started = startEbb(args);
    const looked = watch(started);
    expect((await started.ended).code).toBe(code);
    return looked.samples() > 0 && looked;
  });
  expectNone(seen);
}

test("run, beside a sidecar that it waits for and quits, executes nothing but its file", async () => {
  await using sidecar = await fakeSidecar({ isReady: false });
  await using started = startEbb(["run", "--sidecar", "envoy", "--admin", sidecar.url, "--", childPath(), "exit", "3"]);
  const seen = watch(started);
  await until("it waits", () => sidecar.probes() > 2);
  sidecar.isReady = true;
  expect((await started.ended).code).toBe(3);
  expectNone(seen);
});

test("quit executes nothing but its file", async () => {
  await using sidecar = await fakeSidecar();
  await expectNoneIn(["quit", "--sidecar", "envoy", "--admin", sidecar.url], 0);
});

test("wait, sleep, request and status execute nothing but their file", async () => {
  await using sidecar = await fakeSidecar();
  const at = ["--sidecar", "envoy", "--admin", sidecar.url];
  await expectNoneIn(["wait", ...at], 0);
  await expectNoneIn(["sleep", "50ms"], 0);
  await expectNoneIn(["request", `${sidecar.url}/ready`], 0);
  await expectNoneIn(["status", ...at], 0);
});

test("drain executes nothing but its file", async () => {
  await using envoy = await startEnvoy();
  await expectNoneIn(["drain", "--sidecar", "envoy", "--admin", envoy.url, "--min-drain", "100ms", "--drain", "5s"], 0);
});

test("install executes nothing but its file", async () => {
  using folder = temporaryFolder();
  await expectNoneIn(["install", join(folder.path, "ebb")], 0);
});

test("webhook executes nothing but its file, while it serves and when it ends", async () => {
  await using webhook = await startWebhook(["--min-drain", "0"]);
  const seen = watch(webhook.started);
  for (let count = 0; count < 200; count++) expect((await webhook.ask()).status).toBe(200);
  webhook.started.kill("SIGTERM");
  await webhook.started.ended;
  expectNone(seen);
});

test("reaper executes nothing but its file, while it ends sidecars and when it ends", async () => {
  await using cluster = startCluster();
  for (let count = 0; count < 20; count++) cluster.put(stuckPod(`job-${count}`));
  await using reaper = await startReaper(cluster);
  const seen = watch(reaper.started);
  await until("all were told", () => cluster.told.length === 20);
  reaper.started.kill("SIGTERM");
  await reaper.started.ended;
  expectNone(seen);
});

test.each([["run"], ["wait"]])("an app that makes code at run time does so after %s", async (command) => {
  expect((await ebb([command, "--sidecar", "none", "--", childPath(), "code", "42"])).code).toBe(42);
});

/*
 * Records which pages of Bun a start touches, in build/start/start-pages.json. Run it for each version of Bun, and
 * again after a large change of ebb's own start: `bun build/start/record-start.ts FOLDER`. FOLDER must be on a disk that the
 * kernel reads without read-ahead:
 *
 *   truncate -s 1G disk && mkfs.ext4 -q disk && losetup --direct-io=on --show -f disk
 *   blockdev --setra 0 /dev/loop0 && mount /dev/loop0 FOLDER
 */
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { readElf, segmentFlag, segmentsOf, segmentType } from "../link/elf.ts";
import { fetchMuslBun } from "../link/musl-bun.ts";
import type { Range } from "../shrink/range.ts";
import { type Target, targets } from "../targets.ts";
import { dropPages, residentPages } from "./page-cache.ts";
import { page } from "./start.ts";
import { buildId, encodePages } from "./start-pages.ts";

const repetitions = 3;
/** Surroundings of a start: this environment, next to none, or a pod's; a log that is read, or none. */
const surroundings = [
  { env: process.env, stdin: "ignore", stdout: "ignore" },
  { env: { PATH: process.env.PATH }, stdin: "ignore", stdout: "pipe" },
  { env: { ...process.env, KUBERNETES_SERVICE_HOST: "10.0.0.1" }, stdin: "pipe", stdout: "pipe" },
] as const;
const list = resolve(import.meta.dirname, "start-pages.json");
const lockfile = resolve(import.meta.dirname, "../../package-lock.json");

type Scenario = (admin: string) => readonly string[];

/** The command lines that pods start with; another command runs in a pod only after one of these. */
const scenarios: readonly Scenario[] = [
  () => ["run", "--sidecar", "none", "--", "true"],
  () => ["run", "--sidecar", "none", "--quiet", "--", "echo", "done"],
  () => ["run", "--detect-timeout", "20ms", "--", "true"],
  (admin) => ["run", "--sidecar", "envoy", "--admin", admin, "--", "true"],
  (admin) => ["run", "--sidecar", "envoy", "--admin", admin, "--", "sleep", "0.3"],
  (admin) => ["run", "--sidecar", "envoy", "--admin", `${admin}/late`, "--", "true"],
  (admin) => ["wait", "--sidecar", "none", `${admin}/ready`],
  (admin) => ["wait", "--sidecar", "none", `${admin}/ready`, "--", "true"],
  (admin) => ["quit", "--sidecar", "envoy", "--admin", admin],
  () => ["sleep", "0"],
];

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("bun build/start/record-start.ts FOLDER: on a disk without read-ahead");
writeFileSync(list, "{}\n"); // without a table of pages the executables read nothing but what they touch
const recorded: Record<string, string> = {};
for (const target of targets) {
  const id = buildId(readElf(readFileSync(fetchMuslBun(target, lockfile)), "Bun"));
  recorded[id] ??= await record(target, resolve(folder)); // the baseline's Bun may have the same build id
}
writeFileSync(list, `${JSON.stringify(recorded, null, 2)}\n`);

async function record(target: Target, folder: string): Promise<string> {
  const path = join(folder, `ebb-${target.name}`);
  const build = spawnSync(
    process.execPath,
    [join(import.meta.dirname, "../build.ts"), "--target", target.name, "--outfile", path],
    { encoding: "utf8" },
  );
  if (build.status !== 0) throw new Error(`${build.stdout}${build.stderr}`);
  const touched = new Uint8Array(residentPages(path).length);
  for (let repetition = 0; repetition < repetitions; repetition++)
    for (const scenario of scenarios)
      for (const surrounding of surroundings)
        (await pagesOf(scenario, { path, target, surrounding })).forEach((is, index) => {
          touched[index] = (touched[index] ?? 0) | is;
        });
  const ranges = addresses(touched, readFileSync(path));
  process.stdout.write(`${target.name}: ${touched.reduce((sum, is) => sum + is, 0)} pages\n`);
  rmSync(path);
  return encodePages(ranges);
}

type Start = { readonly path: string; readonly target: Target; readonly surrounding: (typeof surroundings)[number] };

async function pagesOf(scenario: Scenario, { path, target, surrounding }: Start): Promise<Uint8Array> {
  const sidecar = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: ({ url }) => answer(url) });
  let isLate = true;
  setTimeout(() => {
    isLate = false;
  }, 100);
  function answer(url: string): Response {
    if (url.endsWith("/late/ready") && isLate) return new Response("PRE_INITIALIZING\n", { status: 503 });
    if (url.endsWith("/quitquitquit")) setTimeout(() => sidecar.stop(true), 5);
    return new Response(url.endsWith("/ready") ? "LIVE\n" : "OK\n");
  }
  await dropPages(path);
  const command = [
    ...(target.arch === process.arch ? [] : [target.emulator]),
    path,
    ...scenario(`http://127.0.0.1:${sidecar.port}`),
  ];
  const child = Bun.spawn(command, { ...surrounding, stderr: "pipe" });
  const stderr = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed:\n${stderr}`);
  await sidecar.stop(true);
  return residentPages(path);
}

/** Returns the addresses of the touched pages of Bun's constants and code, which come before all data. */
function addresses(touched: Uint8Array, bytes: Uint8Array): Range[] {
  const loads = segmentsOf(readElf(bytes, "executable"), segmentType.load);
  const data = loads.findIndex(({ flags }) => (flags & segmentFlag.write) !== 0);
  const pages = loads.slice(1, data).flatMap(({ offset, address, fileSize }) => {
    const first = Math.floor(offset / page);
    const shift = address - offset;
    return [...touched.subarray(first, Math.ceil((offset + fileSize) / page)).entries()]
      .filter(([, is]) => is === 1)
      .map(([index]) => (first + index) * page + shift);
  });
  return joined(pages.map((from) => ({ from, to: from + page })));
}

function joined(ranges: readonly Range[]): Range[] {
  const runs: Range[] = [];
  for (const { from, to } of ranges) {
    const last = runs.at(-1);
    if (last?.to === from) runs[runs.length - 1] = { from: last.from, to };
    else runs.push({ from, to });
  }
  return runs;
}

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readElf, segmentFlag, segmentsOf, segmentType } from "../../build/link/elf.ts";
import { findToolchain } from "../../build/link/toolchain.ts";
import { emulators } from "../../build/setup/packages.mjs";
import { platformOf, releaseTargets, targetNamed, targets } from "../../build/targets.ts";
import { SIG, signalName } from "../../src/shared/core/signal.ts";
import { childPath } from "../harness/compiled.ts";
import {
  canUnshare,
  ebb,
  ebbPath,
  inParallel,
  type Started,
  startEbb,
  temporaryFolder,
  until,
} from "../harness/ebb.ts";
import { fakeSidecar } from "../stand-in/sidecar.ts";
import { buildElsewhere, first, second, sha256Of } from "./elsewhere.ts";
import { AD_HOC, readMachO } from "./mach-o.ts";

const emulatedMs = 60_000;
setDefaultTimeout(emulatedMs);
const place = temporaryFolder();
afterAll(() => place[Symbol.dispose]());

const executable = (name: string): string => join(place.path, `ebb-linux-${name}`);
/** The oldest processor that Bun runs on. */
const nehalem = ["qemu-x86_64-static", "-cpu", "Nehalem"];
const machines: readonly [string, string, readonly string[]][] = [
  ["x64-baseline, on a processor without AVX", "x64-baseline", nehalem],
  ["arm64", "arm64", ["qemu-aarch64-static"]],
];

/** What stands before a text in the source that is inside, too. */
const quotationMark = '"'.charCodeAt(0);

const alone = ["run", "--sidecar", "none", "--quiet", "--"];
const namespace = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];
/** Those that no emulator keeps for itself. */
const signals = [SIG.HUP, SIG.INT, SIG.QUIT, SIG.USR1, SIG.USR2, SIG.WINCH, 40, 64];

// obstacles are named in the titles, because a test that is skipped says nothing else
const linkObstacle = messageOf(() => targets.map(findToolchain));
const missing = emulators.programs.filter((program) => Bun.which(program) === null);
const because = (obstacle: string | undefined): string => (obstacle === undefined ? "" : ` (skipped: ${obstacle})`);

beforeAll(async () => {
  if (linkObstacle !== undefined) return;
  using home = temporaryFolder();
  await buildElsewhere(join(home.path, "ebb"), home.path, ["--all", "--outdir", place.path], first);
}, 300_000);

describe.skipIf(linkObstacle !== undefined)(`npm run build -- --all${because(linkObstacle)}`, () => {
  test("makes an executable for each target with what stands beside it, and their checksums", () => {
    const command = ["sha256sum", "--check", "--strict", "SHA256SUMS"];
    const { exitCode, stdout } = Bun.spawnSync(command, { cwd: place.path });
    const lines = releaseTargets
      .flatMap((each) => ["", ".cdx.json"].map((ending) => `ebb-${platformOf(each)}${ending}`))
      .toSorted()
      .map((name) => `${name}: OK\n`);
    expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 0, stdout: lines.join("") });
  });

  test.each(targets)("$name is statically linked, for its processor, each segment on pages of its own", (target) => {
    const { machine, pageSize, name } = target;
    const elf = readElf(readFileSync(executable(name)), name);
    expect(elf.machine).toBe(machine);
    expect([...segmentsOf(elf, segmentType.interp), ...segmentsOf(elf, segmentType.dynamic)]).toEqual([]);
    const loads = segmentsOf(elf, segmentType.load);
    const pages = loads.map(({ address, memorySize }) =>
      [address, address + memorySize - 1].map((at) => (at / pageSize) | 0),
    );
    expect(loads.filter(({ align }) => align % pageSize !== 0)).toEqual([]);
    expect(loads.filter(({ address, offset }) => (address - offset) % pageSize !== 0)).toEqual([]);
    expect(pages.flat()).toEqual(pages.flat().toSorted((one, other) => one - other));
    expect(pages.slice(1).filter(([first], index) => first === pages[index]?.[1])).toEqual([]);
    const both = segmentFlag.write | segmentFlag.execute;
    expect(loads.filter(({ flags }) => (flags & both) === both)).toEqual([]);
  });

  test.each(["arm64", "x64"] as const)(
    "darwin-%s has an ad hoc signature with the hash of each of its pages",
    (arch) => {
      const bytes = readFileSync(join(place.path, `ebb-darwin-${arch}`));
      const { processor, flags, wrongPages, rest } = readMachO(bytes);
      expect({ processor, flags, wrongPages, rest }).toEqual({
        processor: arch,
        flags: AD_HOC,
        wrongPages: [],
        rest: 0,
      });
      bytes[bytes.length >> 1] = ~(bytes[bytes.length >> 1] as number);
      expect(readMachO(bytes).wrongPages).toHaveLength(1);
    },
  );

  test("this machine's is the same to the byte as dist/ebb, which was built in another place", () => {
    expect(sha256Of(ebbPath)).toBe(sha256Of(executable(process.arch)));
  });

  const [other = "arm64"] = ["x64", "arm64"].filter((name) => name !== process.arch); // the baseline is x64 with another Bun

  test(`${other} is the same to the byte when somebody else builds it in another place`, async () => {
    using home = temporaryFolder();
    const tree = join(home.path, "a folder", "more deeply", "nésted");
    const outfile = join(tree, "out", "ebb");
    await buildElsewhere(tree, home.path, ["--target", other, "--outfile", outfile], second);
    expect(sha256Of(outfile)).toBe(sha256Of(executable(other)));
    expect(statSync(outfile).mode & 0o777).toBe(0o755);
  }, 120_000);

  test("arm64 is made for pages of 64 KiB, which some of its kernels have", () => {
    expect(targetNamed("arm64").pageSize).toBe(0x1_0000);
  });
});

const runObstacle = linkObstacle ?? (missing.length > 0 ? `missing: ${missing.join(", ")}` : undefined);
describe.skipIf(runObstacle !== undefined).each(machines)(`%s${because(runObstacle)}`, (_, name, through) => {
  const machine = { program: executable(name), through };
  const asPid1 = { ...machine, through: [...namespace, ...through] };

  test("--version", async () => {
    expect(await ebb(["--version"], machine)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ebb \d/),
      stderr: "",
    });
  });

  test("what runs is the bytecode that was compiled for it: a word that is changed in it alone is said", async () => {
    const bytes = readFileSync(executable(name));
    const [at = 0, ...more] = placesOf("a duration such as 30s", bytes).filter(
      (each) => bytes[each - 1] !== quotationMark,
    );
    expect([at > 0, more]).toEqual([true, []]);
    bytes.write("a Duration", at);
    const program = join(place.path, `changed-${name}`);
    writeFileSync(program, bytes);
    chmodSync(program, 0o755);
    const { stderr } = await ebb(["run", "--grace", "soon", "--", "true"], { ...machine, program });
    expect(stderr).toContain("expected a Duration such as");
  });

  test("the child's end is ebb's: its exit code, or 128+n", async () => {
    const ends = [
      ["exit", "0"],
      ["exit", "255"],
      ["die", "9"],
      ["die", "15"],
    ];
    const ended = await inParallel(ends, (words) => ebb([...alone, childPath(), ...words], machine), 2);
    expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual([0, 255, 137, 143].map((code) => [code, ""]));
  });

  test("a command that is not found is 127, one that cannot be executed 126, a bad flag 64", async () => {
    const calls = [
      [...alone, "/no/such/command"],
      [...alone, "/etc/passwd"],
      ["run", "--grace", "soon", "--", "true"],
    ];
    const ended = await inParallel(calls, (call) => ebb(call, machine), 2);
    expect(ended.map(({ code }) => code)).toEqual([127, 126, 64]);
  });

  test(`${signals.map(signalName)} reach the child, in order, and ebb ends as it does`, async () => {
    await using started = startEbb([...alone, childPath(), "record"], machine);
    await says(started, "ready\n");
    for (const signal of signals) {
      process.kill(started.pid, signal);
      await says(started, `\n${signal}\n`);
    }
    started.kill("SIGTERM");
    expect(await started.ended).toMatchObject({ code: 0, stdout: `ready\n${[...signals, SIG.TERM].join("\n")}\n` });
  });

  test("a whole run: waits, starts, hands on the code, and has the sidecar quit", async () => {
    await using sidecar = await fakeSidecar({ isReady: false });
    const call = ["run", "--sidecar", "envoy", "--admin", sidecar.url, "--", childPath(), "exit", "42"];
    await using started = startEbb(call, machine);
    await until("it asks more than once", () => sidecar.probes() > 1, emulatedMs);
    sidecar.isReady = true;
    const { code, log } = await started.ended;
    expect({ code, requests: sidecar.requests }).toEqual({ code: 42, requests: ["POST /quitquitquit"] });
    const said = log.map(({ msg }) => msg).filter((msg) => msg !== "ebb: waiting until ready");
    expect(said).toEqual(
      ["ready", "started the command", "asked the sidecar to exit", "done"].map((msg) => `ebb: ${msg}`),
    );
  });

  test("SIGTERM while it waits: the sidecar is quit, 143", async () => {
    await using sidecar = await fakeSidecar({ isReady: false });
    const call = ["run", "--sidecar", "envoy", "--admin", sidecar.url, "--", childPath(), "exit", "0"];
    await using started = startEbb(call, machine);
    await until("it asks", () => sidecar.probes() > 0, emulatedMs);
    started.kill("SIGTERM");
    const { code } = await started.ended;
    expect({ code, requests: sidecar.requests }).toEqual({ code: 143, requests: ["POST /quitquitquit"] });
  });

  test("ebb wait is replaced by the command, in the same process", async () => {
    await using sidecar = await fakeSidecar();
    const call = ["wait", "--sidecar", "none", "--quiet", `${sidecar.url}/ready`, "--", childPath(), "self"];
    await using started = startEbb(call, machine);
    expect(await started.ended).toMatchObject({ code: 0, stdout: expect.stringContaining(`pid ${started.pid}\n`) });
  });

  test("ebb quit tells the sidecar, and sees that it is gone", async () => {
    await using sidecar = await fakeSidecar();
    const ended = await ebb(["quit", "--sidecar", "envoy", "--admin", sidecar.url], machine);
    expect(ended).toMatchObject({ code: 0, log: [expect.objectContaining({ outcome: "exited", status: 200 })] });
    expect(sidecar.requests).toEqual(["POST /quitquitquit"]);
  });

  // that it becomes a subreaper, which an emulator of processes refuses, only shows on a machine of that architecture
  test.skipIf(!canUnshare(...namespace.slice(1)))(
    "as PID 1 (which needs root) it reaps orphans, and the child gets a SIGTERM of the container's",
    async () => {
      const noZombies = 'until ! cat /proc/[0-9]*/stat 2>/dev/null | grep -q ") Z "; do :; done';
      const script = `"$0" orphans 300 0 && ${noZombies}; kill -TERM 1; exec sleep 60`;
      const ended = await ebb([...alone, "sh", "-c", script, childPath()], asPid1);
      expect(ended).toMatchObject({ code: 143, stderr: "" });
    },
  );
});

test.skipIf(runObstacle !== undefined)(`AVX2 is illegal on the processor without AVX${because(runObstacle)}`, () => {
  const source =
    '__asm__(".globl _start\\n_start: vpaddd %ymm0, %ymm0, %ymm0\\nmov $60, %eax\\nxor %edi, %edi\\nsyscall");';
  const program = join(place.path, "avx2");
  const gcc = ["x86_64-linux-gnu-gcc", "-x", "c", "-", "-nostdlib", "-static", "-o", program];
  expect(Bun.spawnSync(gcc, { stdin: Buffer.from(source) }).exitCode).toBe(0);
  const codeOn = (...emulator: readonly string[]): number =>
    Bun.spawnSync(["sh", "-c", 'ulimit -c 0; "$@"; exit $?', "sh", ...emulator, program]).exitCode;
  expect([codeOn(...nehalem), codeOn("qemu-x86_64-static", "-cpu", "max")]).toEqual([128 + SIG.ILL, 0]);
});

function says(started: Started, text: string): Promise<boolean> {
  return until(`the child says ${text}`, () => started.stdout().includes(text), emulatedMs);
}

function placesOf(text: string, bytes: Buffer): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) places.push(at);
  return places;
}

/** The message of what it throws; undefined where it throws nothing. */
function messageOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

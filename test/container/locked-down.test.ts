import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { childPath } from "../harness/compiled.ts";
import { logOf, temporaryFolder } from "../harness/ebb.ts";
import { buildImages, nodeImage, obstacle } from "./images.ts";
import { limitFlags, limitsObstacle, limitsOf } from "./limits.ts";
import { type ContainerSpec, podNamed, securityFlags } from "./manifest.ts";
import { type Container, imageFolder, startContainer } from "./podman.ts";
import { startSidecar } from "./sidecar.ts";

setDefaultTimeout(120_000); // a tenth of a processor, on a machine that may be busy

const image = "localhost/ebb:scratch";
const pod = podNamed("locked-down", readFileSync(join(import.meta.dirname, "../../src/manual/security.md"), "utf8"));
const [init, app] = [pod.initContainers[0], pod.containers[0]] as [ContainerSpec, ContainerSpec];

const defaultProfile = "/usr/share/containers/seccomp.json";
const lacking = process.env.CI === undefined ? obstacle() : undefined; // never skipped in CI
const unlimited = limitsObstacle();
if (lacking !== undefined) console.log(`skipped: containers need ${lacking}`);
if (unlimited !== undefined) console.log(`memory and processor are not limited here: ${unlimited}`);

interface More {
  /** What the container is told after its command. */
  readonly words?: readonly string[];
  readonly mounts?: readonly string[];
}

/** As the manifest in the manual has it. */
function start(spec: ContainerSpec, beside: Container, { words = [], mounts = [] }: More): Container {
  const limits = unlimited === undefined ? limitFlags(spec.resources.limits) : [];
  const [, ...command] = spec.command;
  const security = [...securityFlags(pod, spec), ...limits];
  return startContainer(image, [...command, ...words], { beside, mounts, security });
}

/** The same with an application. */
function startApp(beside: Container, words: readonly string[]): Container {
  return start(app, beside, { words: ["/child", ...words], mounts: [`${childPath()}:/child:ro`] });
}

describe.skipIf(lacking !== undefined)("the pod of the manual that is locked down", () => {
  beforeAll(
    async () => {
      buildImages();
      await using folder = await imageFolder(image);
      readFileSync(join(folder.path, "ebb")); // so that its pages are in memory, as on a node where it was just unpacked
    },
    { timeout: 1_200_000 },
  );

  test("forbids all that it can", () => {
    expect(existsSync(defaultProfile)).toBe(true);
    const strict = [
      "--read-only",
      "--read-only-tmpfs=false",
      "--security-opt",
      "no-new-privileges",
      "--cap-drop",
      "ALL",
    ];
    const user = ["--user", "65532:65532"];
    expect(securityFlags(pod, app)).toEqual([...user, ...strict, "--security-opt", `seccomp=${defaultProfile}`]);
    expect(securityFlags(pod, init)).toEqual([
      ...user,
      ...strict,
      "--security-opt",
      expect.stringMatching(/build.seccomp.json$/),
    ]);
    expect(limitFlags(app.resources.limits)).toEqual([
      "--memory",
      "16777216",
      "--memory-swap",
      "16777216",
      "--cpus",
      "0.1",
    ]);
  });

  test("waits for the sidecar, runs the command, hands signals on, quits the sidecar, and keeps the exit code", async () => {
    await using network = startContainer(image, ["sleep", "5m"]);
    await network.pid();
    await using main = startApp(network, ["record"]);
    await main.says('"ebb: waiting until ready"');
    await using sidecar = startSidecar(network);
    await main.says("ready\n");
    expect(confinementOf(await main.pid())).toEqual({ user: 65532, capabilities: 0, isForbiddenMore: 1, seccomp: 2 });
    if (unlimited === undefined) expect(limitsOf(await main.pid())).toEqual({ memory: 16 * 2 ** 20, cpu: 100 });
    await main.stop();
    const { code, stdout, stderr } = await main.ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: "ready\n15\n" });
    expect([...new Set(logOf(stderr).map(({ msg }) => msg))]).toEqual(
      [
        "waiting until ready",
        "ready",
        "started the command",
        "received a stop signal: forwarding it",
        "asked the sidecar to exit",
        "done",
      ].map((msg) => `ebb: ${msg}`),
    );
    expect(await sidecar.ended).toEqual({ code: 0, stdout: "listening\nPOST /quitquitquit\n", stderr: "" });
  });

  test("has the exit code of a command that fails, and its orphans reaped", async () => {
    await using network = startContainer(image, ["sleep", "5m"]);
    await network.pid();
    await using sidecar = startSidecar(network);
    await sidecar.says("listening");
    await using main = startApp(network, ["orphans", "30", "37"]);
    expect((await main.ended).code).toBe(37);
    expect((await sidecar.ended).code).toBe(0);
  });

  test("has an init container that makes no system call but those of build/seccomp.json", async () => {
    using folder = temporaryFolder();
    const hosts = join(folder.path, "hosts");
    writeFileSync(hosts, "127.0.0.1 database\n");
    await using network = startContainer(image, ["sleep", "5m"]);
    await network.pid();
    await using waiting = start(init, network, { mounts: [`${hosts}:/etc/hosts:ro`] });
    await waiting.says('"ebb: waiting until ready"');
    const pid = await waiting.pid();
    expect(confinementOf(pid)).toEqual({ user: 65532, capabilities: 0, isForbiddenMore: 1, seccomp: 2 });
    const server = "require('net').createServer((client) => client.resume()).listen(5432, '127.0.0.1')";
    await using _ = startContainer(nodeImage, ["node", "--eval", server], { beside: network });
    expect(await waiting.ended).toMatchObject({ code: 0, stdout: "" });
  });

  test("runs a command with those system calls, where that is ebb", async () => {
    await using network = startContainer(image, ["sleep", "5m"]);
    await network.pid();
    await using sidecar = startSidecar(network);
    await sidecar.says("listening");
    const security = securityFlags(pod, init);
    const words = ["run", "--sidecar", "envoy", "--", "/ebb", "sleep", "1ms"];
    await using run = startContainer(image, words, { beside: network, security });
    expect((await run.ended).code).toBe(0);
    expect((await sidecar.ended).code).toBe(0);
  });
});

/** What the kernel forbids a process: NoNewPrivs 1, and Seccomp 2 where a filter is in force (proc(5)). */
function confinementOf(pid: number): Readonly<Record<string, number>> {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const field = (name: string): string => new RegExp(`^${name}:\\t(\\w+)`, "m").exec(status)?.[1] ?? "";
  return {
    user: Number(field("Uid")),
    capabilities: Number.parseInt(field("CapBnd"), 16),
    isForbiddenMore: Number(field("NoNewPrivs")),
    seccomp: Number(field("Seccomp")),
  };
}

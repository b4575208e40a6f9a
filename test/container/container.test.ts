import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readElf } from "../../build/link/elf.ts";
import { debianNames, isInPath, otherArch } from "../../build/setup/packages.mjs";
import { targetNamed } from "../../build/targets.ts";
import packageJson from "../../package.json";
import { childPath } from "../harness/compiled.ts";
import { type LogLine, logOf, temporaryFolder, until } from "../harness/ebb.ts";
import { filesOf } from "./image-files.ts";
import { buildImages, images, nodeImage, obstacle, otherImage, toldCommit } from "./images.ts";
import {
  type Container,
  type ContainerOptions,
  imageArchitecture,
  imageConfig,
  imageFolder,
  startContainer,
} from "./podman.ts";
import { startSidecar } from "./sidecar.ts";

setDefaultTimeout(60_000);

const lacking = process.env.CI === undefined ? obstacle() : undefined; // never skipped in CI
if (lacking !== undefined) console.log(`skipped: containers need ${lacking}`);

describe.skipIf(lacking !== undefined)("Dockerfile.distroless", () => {
  beforeAll(buildImages, { timeout: 1_200_000 });

  test(`makes, on this machine, the image for ${otherArch} too`, async () => {
    const { machine, name, emulator } = targetNamed(otherArch as NodeJS.Architecture);
    expect(await imageArchitecture(otherImage)).toBe(debianNames[otherArch] as string);
    expect(await imageConfig(otherImage)).toMatchObject({ Entrypoint: ["/ebb"], User: "65532:65532" });
    await using folder = await imageFolder(otherImage);
    const ebb = join(folder.path, "ebb");
    expect(readElf(new Uint8Array(readFileSync(ebb)), name).machine).toBe(machine);
    if (!isInPath(emulator)) return;
    const { stdout } = spawnSync(emulator, [ebb, "--version", "--json"], { encoding: "utf8" });
    expect(JSON.parse(stdout)).toMatchObject({ target: `linux-${name}`, commit: toldCommit });
  });

  describe.each(images)("%s", (image) => {
    const start = starterOf(image);

    test("holds no program but /ebb, and little else", async () => {
      await using folder = await imageFolder(image);
      const files = filesOf(folder.path);
      const others = files.filter(({ path }) => path !== "/ebb");
      const [ebb] = files.filter(({ isProgram }) => isProgram);
      expect(ebb?.path).toBe("/ebb");
      expect(others.filter(({ isProgram }) => isProgram)).toEqual([]);
      expect(others.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(image.endsWith(":scratch") ? 1 : 5e6);
    });

    test("starts /ebb as a user that is named by its number", async () => {
      const { Cmd, ...config } = await imageConfig(image);
      expect(config).toMatchObject({ Entrypoint: ["/ebb"], User: expect.stringMatching(/^65532(:65532)?$/) });
      expect(Cmd ?? []).toEqual([]);
    });

    test("has the labels of the package and its commit", async () => {
      expect(labelsOf(await imageConfig(image))).toEqual({
        title: packageJson.name,
        description: packageJson.description,
        version: packageJson.version,
        revision: toldCommit,
      });
    });

    test("says its version", async () => {
      await using container = start(["--version", "--json"]);
      const { code, stdout, stderr } = await container.ended;
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(JSON.parse(stdout)).toMatchObject({ version: packageJson.version, commit: toldCommit, dirty: false });
    });

    test("waits for a sidecar that comes later, runs the command, quits the sidecar and keeps the exit code", async () => {
      await using pod = await startPod(image);
      await using app = start(["run", "--sidecar", "envoy", "--", "/child", "exit", "37"], { beside: pod });
      await app.says('"ebb: waiting until ready"');
      await using sidecar = startSidecar(pod);
      const { code, stderr } = await app.ended;
      expect(messagesOf(stderr)).toEqual([
        "ebb: waiting until ready",
        "ebb: ready",
        "ebb: started the command",
        "ebb: asked the sidecar to exit",
        "ebb: done",
      ]);
      expect(code).toBe(37);
      expect(await sidecar.ended).toEqual({ code: 0, stdout: "listening\nPOST /quitquitquit\n", stderr: "" });
    });
  });

  describe("ebb in a container of an image with nothing else", () => {
    const image = "localhost/ebb:scratch";
    const start = starterOf(image);

    test("believes no port where no kubelet has written /etc/hosts, starts at once, and says what to set", async () => {
      await using pod = await startPod(image);
      await using sidecar = startSidecar(pod);
      await sidecar.says("listening");
      await using app = start(["run", "--", "/child", "exit", "0"], { beside: pod });
      const { code, stderr } = await app.ended;
      const reason = expect.stringMatching(/--sidecar .*--host-network=false/);
      expect(logOf(stderr)[0]).toMatchObject({ msg: "ebb: no sidecar found", lookedMs: 0, reason });
      expect(messagesOf(stderr)).toContain("ebb: did not shut down a proxy");
      expect(code).toBe(0);
    });

    test("finds the sidecar by itself, in a network that its user says is the pod's own", async () => {
      await using pod = await startPod(image);
      await using sidecar = startSidecar(pod);
      await sidecar.says("listening");
      await using app = start(["run", "--host-network=false", "--", "/child", "exit", "0"], { beside: pod });
      const { code, stderr } = await app.ended;
      expect(logOf(stderr)[0]).toMatchObject({ msg: "ebb: found", sidecars: ["envoy"] });
      expect(code).toBe(0);
      expect((await sidecar.ended).code).toBe(0);
    });

    test.each([
      ["that exits by itself", "record", 0],
      ["that it ends", "child", 143],
    ])("SIGTERM reaches a command %s", async (_, word, code) => {
      await using app = start(["run", "--sidecar", "none", "--", "/child", word]);
      await app.says("ready\n");
      await app.stop();
      const ended = await app.ended;
      expect(ended.code).toBe(code);
      expect(ended.stdout.includes("15\n")).toBe(word === "record");
    });

    test("reaps every orphan as PID 1, as user 65532, without a capability", async () => {
      await using app = start(["run", "--sidecar", "none", "--", "/child", "record"]);
      await app.says("ready\n");
      const pid = await app.pid();
      expect(await app.exec("/child", "orphans", "30", "5")).toMatchObject({ code: 5 });
      await until("no orphan is left", () => childrenOf(pid).length === 1);
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      expect(status).toMatch(/^Uid:\t65532\t65532\t65532\t65532$/m);
      expect(status).toMatch(/^CapBnd:\t0+$/m);
    });

    test("is a preStop hook and a target of kubectl exec", async () => {
      await using pod = await startPod(image);
      await using sidecar = startSidecar(pod);
      await using app = start(["run", "--sidecar", "envoy", "--", "/child", "record"], { beside: pod });
      await app.says("ready\n");
      expect(await app.exec("/ebb", "sleep", "0.1")).toMatchObject({ code: 0 });
      expect(await app.exec("/ebb", "quit", "--sidecar", "envoy")).toMatchObject({ code: 0 });
      expect((await sidecar.ended).stdout).toContain("POST /quitquitquit");
      await app.stop();
      expect(await app.ended).toMatchObject({ code: 0, stdout: "ready\n15\n" });
    });

    test("a drain in an exec hook tells the pod's log, and its caller", async () => {
      await using app = start(["run", "--sidecar", "none", "--", "/child", "record"]);
      await app.says("ready\n");
      const { code, stderr } = await app.exec("/ebb", "drain", "--sidecar", "none", "--min-drain", "100ms");
      expect(code).toBe(0);
      const [draining] = logOf(stderr);
      expect(draining).toMatchObject({ msg: "ebb: draining", atMostMs: 60_000 });
      await app.stop();
      expect(logOf((await app.ended).stderr)).toContainEqual(draining as LogLine);
    });

    test("an init container installs it for an image that has none, where it starts the command", async () => {
      using folder = temporaryFolder();
      chmodSync(folder.path, 0o777); // as an emptyDir's fsGroup makes it
      const mounts = [`${folder.path}:/shared`];
      await using init = start(["install", "/shared/ebb"], { mounts });
      const { code, stderr } = await init.ended;
      expect(logOf(stderr)).toMatchObject([{ msg: "ebb: installed ebb", dest: "/shared/ebb" }]);
      expect(code).toBe(0);
      const words = ["/shared/ebb", "run", "--sidecar", "none", "--quiet", "--", "node", "--eval", "process.exit(7)"];
      await using app = startContainer(nodeImage, words, { mounts: [`${folder.path}:/shared:ro`] });
      expect(await app.ended).toEqual({ code: 7, stdout: "", stderr: "" });
    });

    test("wait becomes the command: it is PID 1 then", async () => {
      await using app = start(["wait", "--sidecar", "none", "--", "/child", "self"]);
      const { code, stdout } = await app.ended;
      expect(stdout).toStartWith("pid 1\nparent 0\n");
      expect(code).toBe(0);
    });

    test("hands the terminal to the command", async () => {
      await using app = start(["run", "--sidecar", "none", "--", "/child", "self"], { terminal: true });
      const { stdout } = await app.ended;
      const [, group] = /^group (\d+)\r$/m.exec(stdout) ?? [];
      expect(group).not.toBe("1");
      expect(stdout).toContain(`foreground ${group}\r\n`);
    });

    test("leaves the reason of its failure in the termination log", async () => {
      using folder = temporaryFolder();
      const log = join(folder.path, "termination-log");
      writeFileSync(log, "");
      chmodSync(log, 0o666); // as the kubelet makes it
      const args = ["run", "--sidecar", "none", "--", "/missing"];
      await using app = start(args, { mounts: [`${log}:/dev/termination-log`] });
      expect((await app.ended).code).toBe(127);
      expect(readFileSync(log, "utf8")).toContain("/missing");
    });
  });
});

function starterOf(image: string) {
  return (args: readonly string[], { mounts = [], ...options }: ContainerOptions = {}): Container =>
    startContainer(image, args, { ...options, mounts: [`${childPath()}:/child:ro`, ...mounts] });
}

function labelsOf({ Labels }: Readonly<Record<string, unknown>>): Record<string, string> {
  const prefix = "org.opencontainers.image.";
  const labels = Object.entries(Labels as Record<string, string>).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(labels.map(([name, value]) => [name.slice(prefix.length), value]));
}

/** The network that the containers of a pod share lives as long as the one that it was made for, which does nothing else. */
async function startPod(image: string): Promise<Container> {
  const pod = startContainer(image, ["sleep", "2m"]);
  await pod.pid();
  return pod;
}

/** Each once: how often a sidecar is found not ready is a matter of time. */
function messagesOf(stderr: string): readonly string[] {
  return [...new Set(logOf(stderr).map(({ msg }) => msg))];
}

/** The processes that one has started or adopted, by whichever of its threads. */
function childrenOf(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    try {
      return readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean);
    } catch {
      return []; // the thread has ended; another has its children
    }
  });
}

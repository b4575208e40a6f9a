import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isInPath } from "../../build/setup/packages.mjs";
import { childPath } from "../harness/compiled.ts";
import { type Ended, ebb, ebbPath, lineOf, startEbb, temporaryFolder, until } from "../harness/ebb.ts";
import { startGvisorPod } from "./gvisor-pod.ts";

setDefaultTimeout(120_000);

/** Says why gVisor cannot run here, such as without leave to make its namespaces; undefined if it can. */
function obstacle(): string | undefined {
  if (!isInPath("runsc")) return "it is not installed: apt-get install runsc";
  const { status, stderr } = spawnSync("runsc", [...sandbox.slice(1), "true"], { encoding: "utf8" });
  return status === 0 ? undefined : stderr.trim();
}

/** Starts a command in a sandbox of its own, in which it is PID 1 and sees this machine's files. */
const sandbox = ["runsc", "--network=none", "do"];
const lacking = process.env.CI === undefined ? obstacle() : undefined; // never skipped in CI
if (lacking !== undefined) console.log(`skipped: gVisor: ${lacking}`);

const proxy = join(import.meta.dirname, "..", "stand-in", "container-envoy.ts");
const inside = (...args: readonly string[]): Promise<Ended> => ebb(args, { through: sandbox });
const shell = (script: string): Promise<Ended> => ebb(["-c", script], { through: sandbox, program: "/bin/sh" });
/** Starts a stand-in for an Envoy on port 9901 of the sandbox, and then becomes ebb. */
const beside = (args: string): Promise<Ended> =>
  shell(`${realpathSync(process.execPath)} ${proxy} >/dev/null & exec ${ebbPath} ${args}`);
const admin = "--admin http://127.0.0.1:9901";

/** Writes the bundle of a container as a kubelet has it made: two mounts of a volume, the second of its folder `a`. */
function writeBundle(path: string): void {
  const root = join(path, "root");
  for (const each of ["root/proc", "root/ebb.dev-apps", "root/ebb.dev-own", `root${dirname(ebbPath)}`, "volume/a"])
    mkdirSync(join(path, each), { recursive: true });
  const bind = (source: string, destination: string, ...options: readonly string[]) => {
    return { type: "bind", source, destination, options: ["rbind", ...options] };
  };
  const own = bind(join(path, "volume", "a"), "/ebb.dev-own");
  const mounts = [
    bind(join(path, "volume"), "/ebb.dev-apps", "ro"),
    own,
    bind(dirname(ebbPath), dirname(ebbPath), "ro"),
  ];
  const args = [ebbPath, "run", "--sidecar", "none", "--last-of", "a,b", "--", ebbPath, "sleep", "1ms"];
  const process = { user: { uid: 0, gid: 0 }, args, env: [], cwd: "/" };
  const proc = { type: "proc", source: "proc", destination: "/proc" };
  const config = {
    ociVersion: "1.0.0",
    process,
    root: { path: root, readonly: true },
    mounts: [proc, ...mounts],
    linux: { namespaces: [{ type: "pid" }, { type: "mount" }] },
  };
  writeFileSync(join(path, "config.json"), JSON.stringify(config));
}

describe.skipIf(lacking !== undefined)("in gVisor", () => {
  test("run gives the command's exit code and environment", async () => {
    const ended = await inside("run", "--sidecar", "none", "--", "sh", "-c", "echo $PWD; exit 7");
    expect(ended).toMatchObject({ code: 7, stdout: `${process.cwd()}\n` });
    expect(lineOf(ended, "done").exitCode).toBe(7);
  });

  test.each([
    ["an exit code of its own", `trap "exit 9" TERM; kill -TERM 1; sleep 9 & wait`, 9],
    ["the signal that ended it", `kill -TERM 1; sleep 9`, 143],
    [
      "a second signal",
      `trap : TERM; trap "exit 3" HUP; kill -TERM 1; sleep 0.1; kill -HUP 1; sleep 9 & wait; wait`,
      3,
    ],
  ])("run, as PID 1, forwards signals: %s", async (_, script, code) => {
    expect((await inside("run", "--sidecar", "none", "--", "sh", "-c", script)).code).toBe(code);
  });

  test("run reaps orphans, and kills what is left after the grace", async () => {
    const script = "(sleep 0.1 &); sleep 0.5; trap '' TERM; kill -TERM 1; sleep 60";
    const ended = await inside("run", "--sidecar", "none", "--grace", "300ms", "--", "sh", "-c", script);
    expect(ended.code).toBe(137);
  });

  test("run waits for a proxy, and quits it", async () => {
    const ended = await beside(`run ${admin} -- sh -c 'exit 5'`);
    expect(ended.code).toBe(5);
    expect(lineOf(ended, "asked the sidecar to exit")).toMatchObject({ status: 200, outcome: "exited" });
  });

  test("auto finds a proxy by its port", async () => {
    const ended = await beside("run --host-network=false -- sh -c 'exit 5'");
    expect(lineOf(ended, "found")).toMatchObject({ sidecars: ["envoy"], by: "port 9901" });
    expect(lineOf(ended, "asked the sidecar to exit")).toMatchObject({ status: 200, outcome: "exited" });
  });

  test("a wait says one reason, and when time is up that one", async () => {
    const ended = await inside("wait", "--sidecar", "none", "--wait-timeout", "700ms", "tcp://127.0.0.1:1");
    expect(ended.code).toBe(69);
    const failure = "not ready within 700ms: tcp://127.0.0.1:1: connection refused";
    expect(ended.log.map(({ reason }) => reason)).toEqual(["connection refused", failure]);
  });

  test("wait becomes its command once its targets are ready", async () => {
    const targets = `tcp://127.0.0.1:9901 http://127.0.0.1:9901/ready file:${childPath()}?nonempty`;
    expect((await beside(`wait --sidecar none --wait-timeout 9s ${targets} -- sh -c 'exit 5'`)).code).toBe(5);
  });

  test("status lists what listens, with its process", async () => {
    const ended = await beside(`run ${admin} -- ${ebbPath} status --json`);
    const { sockets } = JSON.parse(ended.stdout) as { readonly sockets: { readonly listening: readonly object[] } };
    const listening = { address: "127.0.0.1", port: 9901, pid: expect.any(Number), process: expect.any(String) };
    expect(sockets.listening).toContainEqual(expect.objectContaining(listening));
  });

  test("request, drain and quit reach the proxy", async () => {
    const calls = [`request ${admin} GET /ready`, `drain ${admin} --drain 3s --min-drain 0s`, `quit ${admin}`];
    const script = calls.map((call) => `${ebbPath} ${call} || exit 1`).join("; ");
    const ended = await beside(`run --sidecar none --ready http://127.0.0.1:9901/ready -- sh -c '${script}'`);
    expect(ended.stdout).toBe("LIVE\n");
    expect(lineOf(ended, "drain ended").outcome).toBe("drained");
    expect(lineOf(ended, "asked the sidecar to exit").outcome).toBe("exited");
    expect(ended.code).toBe(0);
  });

  test("with several app containers the last one quits the proxy, where they share a mount", async () => {
    const folders = "mkdir -p /tmp/v/a /tmp/v/b /ebb.dev-apps /ebb.dev-own && mount --bind /tmp/v /ebb.dev-apps";
    const run = (name: string, lastOf: string, app: string) =>
      `unshare --mount --propagation unchanged sh -c "mount --bind /tmp/v/${name} /ebb.dev-own && exec ${ebbPath} run ${admin} --last-of ${lastOf} -- ${app}"`;
    const a = run("a", "a,b", `${ebbPath} wait --sidecar none --wait-timeout 100s file:/tmp/v/b-has-ended`);
    const hasStarted = "until [ -s /tmp/v/a/state ] || ! kill -0 $!; do sleep 0.1; done";
    const script = `${folders}; ${a} & ${hasStarted}; ${run("b", "b,a", "true")}; touch /tmp/v/b-has-ended; wait $!`;
    const { log, stderr } = await shell(`${realpathSync(process.execPath)} ${proxy} >/dev/null & ${script}`);
    const said = log.filter(({ msg }) => /kept the|asked the/.test(msg)).map(({ msg, reason }) => reason ?? msg);
    expect(said, stderr).toEqual(["--last-of: a runs", "ebb: asked the sidecar to exit"]);
  });

  test("two mounts of one volume have locks of their own there: the sidecars are kept, and that is said", async () => {
    using bundle = temporaryFolder();
    writeBundle(bundle.path);
    const call = ["--network=none", "run", "--bundle", bundle.path, `ebb-test-${process.pid}`];
    const { code, log, stderr } = await ebb(call, { program: "runsc" });
    const warning = log.find(({ level }) => level === "warn");
    expect(warning?.reason, stderr).toMatch(/^\/ebb\.dev-apps\/a\/state/);
    expect(code).toBe(0);
  });

  test("hold stays until the ebb run of another container of the pod has ended", async () => {
    using folder = temporaryFolder();
    await using pod = await startGvisorPod(folder.path);
    const flags = ["--sidecar", "envoy", "--no-wait", "--quit-on", "never"];
    await using app = pod.start("app", ["run", ...flags, "--", ebbPath, "sleep", "10m"]);
    await until("the app runs", () => app.stderr().includes("started the command"), 60_000);
    await using hold = pod.start("proxy", ["hold"]);
    await until("it holds", () => hold.stderr().includes("holding the proxy"), 60_000);
    pod.stop("app");
    const { code, log } = await hold.ended;
    expect([code, log.at(-1)?.msg]).toEqual([0, "ebb: the apps have ended: letting the proxy go"]);
  });

  test("sleep, install and the termination log", async () => {
    using folder = temporaryFolder();
    const log = join(folder.path, "reason");
    const script = `${ebbPath} sleep 100ms && ${ebbPath} install /tmp/copy && /tmp/copy --version && cat ${log}`;
    const failing = `${ebbPath} wait --sidecar none --wait-timeout 50ms --termination-log ${log} tcp://127.0.0.1:1`;
    const { stdout } = await shell(`${failing}; ${script}`);
    expect(stdout).toMatch(/^ebb .*\nebb: not ready within 50ms: tcp:\/\/127.0.0.1:1: connection refused\n$/);
    expect(() => readFileSync(log)).toThrow(); // the sandbox has a layer of its own over this machine's files
  });

  test("a stop signal from outside ends the command and the sandbox", async () => {
    await using started = startEbb(["run", "--sidecar", "none", "--", "sleep", "60"], { through: sandbox });
    await until("the command runs", () => started.stderr().includes("started the command"));
    started.kill("SIGTERM");
    expect((await started.ended).code).toBe(143);
  });
});

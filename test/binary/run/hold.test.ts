import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { childPath } from "../../harness/compiled.ts";
import { canUnshare, ebb, type Started, temporaryFolder, until } from "../../harness/ebb.ts";
import { type ContainerOptions, firstProcess, type PodNetwork, startPodNetwork } from "./pod-of-containers.ts";

// What Envoy and pilot-agent do at its requests: test/envoy/hold.test.ts, test/sidecars/istio.

const canBePod = canUnshare("--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child");
const noWait = ["--sidecar", "envoy", "--no-wait", "--quit-on", "never"];
const app = [...noWait, "--", childPath(), "record"];

/** Starts an app container, and resolves when its app runs. */
async function startApp(pod: PodNetwork, flags: readonly string[] = [], options?: ContainerOptions): Promise<Started> {
  const started = pod.start(["run", ...flags, ...app], options);
  await until("the app runs", () => started.stdout().includes("ready\n"));
  await until("it is logged", () => started.stderr().includes("started the command"));
  return started;
}

/** Starts `ebb hold` in a container of its own, and resolves when it holds. */
async function startHold(pod: PodNetwork, options?: ContainerOptions): Promise<Started> {
  const hold = pod.start(["hold"], options);
  await until("it holds", () => hold.stderr().includes("holding the proxy"));
  return hold;
}

async function holdsNothing(pod: PodNetwork, options?: ContainerOptions): Promise<void> {
  await using hold = pod.start(["hold"], options);
  const { code, log } = await hold.ended;
  expect([code, log.map(({ msg }) => msg)]).toEqual([
    0,
    ["ebb: nothing to hold for: no ebb run of another container runs its command"],
  ]);
}

describe.skipIf(!canBePod)("ebb hold (in namespaces, which need root)", () => {
  test("stays until the ebb runs of all other containers have ended, and says for whom", async () => {
    await using pod = await startPodNetwork();
    await using one = await startApp(pod);
    await using other = await startApp(pod);
    await using hold = await startHold(pod);
    process.kill(await firstProcess(one), "SIGTERM");
    await one.ended;
    expect(hold.stderr()).not.toContain("letting the proxy go");
    process.kill(await firstProcess(other), "SIGTERM");
    const { code, log } = await hold.ended;
    expect(code).toBe(0);
    expect(log[0]).toMatchObject({ msg: "ebb: holding the proxy until the apps have ended", apps: ["child", "child"] });
    expect(log.at(-1)).toMatchObject({ msg: "ebb: the apps have ended: letting the proxy go" });
  });

  test("ends when ebb run is killed", async () => {
    await using pod = await startPodNetwork();
    await using one = await startApp(pod);
    await using hold = await startHold(pod);
    process.kill(await firstProcess(one), "SIGKILL");
    expect((await hold.ended).code).toBe(0);
  });

  test("a process that the app leaves does not hold", async () => {
    await using pod = await startPodNetwork();
    const leaves = `"$0" record & exec sleep 1000`;
    await using one = pod.start(["run", ...noWait, "--", "sh", "-c", leaves, childPath()], { sharesPids: true });
    await until("it is left", () => one.stdout().includes("ready\n"));
    await using hold = await startHold(pod);
    process.kill(await firstProcess(one), "SIGKILL");
    expect((await hold.ended).code).toBe(0);
  });

  test("shared PIDs make no difference", async () => {
    await using pod = await startPodNetwork();
    await using one = await startApp(pod, [], { sharesPids: true });
    await using hold = await startHold(pod, { sharesPids: true });
    process.kill(await firstProcess(one), "SIGTERM");
    expect((await hold.ended).code).toBe(0);
  });

  test("user namespaces make no difference", async () => {
    await using pod = await startPodNetwork();
    const unshare = ["--user", "--map-root-user"];
    await using one = await startApp(pod, [], { unshare });
    await using hold = await startHold(pod, { unshare });
    process.kill(await firstProcess(one), "SIGTERM");
    expect((await hold.ended).code).toBe(0);
  });

  test("a stop signal ends it", async () => {
    await using pod = await startPodNetwork();
    await using _one = await startApp(pod);
    await using hold = await startHold(pod);
    process.kill(await firstProcess(hold), "SIGTERM");
    expect((await hold.ended).log.at(-1)?.msg).toBe("ebb: holding the proxy until the apps have ended");
  });

  test("ends at once where no ebb run is", async () => {
    await using pod = await startPodNetwork();
    await holdsNothing(pod);
  });

  test.each<[string, readonly string[]]>([
    ["owns no sidecar", ["--sidecar", "none"]],
    ["is not to be waited for", ["--no-hold"]],
    ["is on the node's network", ["--host-network=true", "--admin", "http://127.0.0.1:9901"]],
  ])("does not wait for one that %s", async (_, flags) => {
    await using pod = await startPodNetwork();
    const call = ["run", "--no-wait", "--quit-on", "never", ...flags, "--", childPath(), "record"];
    await using one = pod.start(call);
    await until("the app runs", () => one.stdout().includes("ready\n"));
    await until("it is logged", () => one.stderr().includes("started the command"));
    await holdsNothing(pod);
  });

  test("does not wait for one that still waits", async () => {
    await using pod = await startPodNetwork();
    await using one = pod.start(["run", "--sidecar", "envoy", "--", "true"]);
    await until("it waits", () => one.stderr().includes("waiting until ready"));
    await holdsNothing(pod);
  });

  test("does not wait for one of its own container", async () => {
    await using pod = await startPodNetwork();
    await using one = await startApp(pod);
    await using hold = await pod.exec(one, ["hold"]);
    expect((await hold.ended).log.map(({ msg }) => msg)).toEqual([
      "ebb: nothing to hold for: no ebb run of another container runs its command",
    ]);
  });
});

test("the app inherits no descriptor of what announces it", async () => {
  using folder = temporaryFolder();
  const list = join(folder.path, "list");
  const env = { EBB_HOST_NETWORK: "false" };
  await ebb(["run", ...noWait, "--", "sh", "-c", `sleep 0.2; ls -l /proc/self/fd 2>/dev/null > ${list}`], { env });
  expect(await Bun.file(list).text()).not.toContain("socket:");
});

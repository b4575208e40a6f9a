import { describe, expect, test } from "bun:test";
import { ebb } from "../../harness/ebb.ts";
import type { Port } from "../../stand-in/sidecars.ts";
import { canHaveNetwork, ebbBeside } from "./own-network.ts";

const here = "ebb: the sidecar is gone, or was never here";
const failed = "ebb: could not shut down the sidecar";

describe.skipIf(!canHaveNetwork)("ebb quit, where a sidecar's ports are all closed", () => {
  test.concurrent.each([
    ["envoy", []],
    ["envoy", ["--admin", "http://127.0.0.1:7777"]],
    ["envoy:7777", []],
    ["istio", []],
    ["istio", ["--quit", "http://localhost:7777/quitquitquit"]],
  ])("%s %j: it is gone, after a second", async (name, flags) => {
    const ended = await ebbBeside([], ["quit", "--sidecar", name, ...flags]);
    const line = ended.log.find(({ msg }) => msg === here);
    expect(line).toMatchObject({
      level: "info",
      sidecar: name.split(":")[0],
      outcome: expect.stringContaining("--quit"),
    });
    expect(Number(line?.tookMs)).toBeGreaterThanOrEqual(1000);
    expect(ended.log.some(({ msg }) => msg === failed)).toBe(false);
    expect(ended.code).toBe(0);
  });

  test.concurrent("one that has quit is gone for the next ebb quit", async () => {
    const beside = '"$1" quit --sidecar envoy; "$1" quit --sidecar envoy; echo second $? >&2';
    const ended = await ebbBeside([{ port: 9901 }], ["run", "--sidecar", "none", "--", "sleep", "3"], { beside });
    expect(ended.requests.filter((request) => request.includes("POST"))).toEqual(["9901 POST /quitquitquit"]);
    expect(ended.stderr).toContain("\nsecond 0\n");
  });

  test.concurrent.each<[string, readonly Port[], readonly string[], RegExp]>([
    ["istio", [{ port: 15000 }], [], /^connection refused: pilot-agent's status port is closed/],
    ["istio", [{ port: 15021 }], [], /^connection refused: pilot-agent's status port is closed/],
    ["linkerd", [], [], /^connection refused: there is no linkerd in this pod, or its admin interface is elsewhere/],
    ["kuma", [], [], /^connection refused: there is no kuma in this pod, or Kuma's admin interface/],
    ["consul", [], [], /^connection refused: there is no consul in this pod, or neither/],
    ["dapr", [], [], /^connection refused: there is no dapr in this pod/],
    ["vault-agent", [], [], /^connection refused: there is no vault-agent in this pod, or Vault Agent opens/],
    [
      "cloud-sql-proxy",
      [],
      [],
      /^connection refused: there is no cloud-sql-proxy in this pod, or the Cloud SQL Auth Proxy/,
    ],
    ["alloydb-auth-proxy", [], [], /^connection refused: there is no alloydb-auth-proxy in this pod, or the AlloyDB/],
    [
      "envoy",
      [],
      ["--ignore-not-found=false"],
      /^connection refused: there is no envoy in this pod, or its admin interface/,
    ],
    ["istio", [], ["--ignore-not-found=false"], /^connection refused: there is no istio in this pod, or pilot-agent's/],
    ["istio", [], ["--signal-process", "+pilot-agent"], /^connection refused|^no such process/],
  ])("%s, with %j and %j: that is not sure", async (name, ports, flags, outcome) => {
    const ended = await ebbBeside(ports, ["quit", "--sidecar", name, "--quit-timeout", "1500ms", ...flags]);
    expect(ended.log.find(({ msg }) => msg === failed)).toMatchObject({ outcome: expect.stringMatching(outcome) });
    expect(ended.log.some(({ msg }) => msg === here)).toBe(false);
    expect(ended.code).toBe(69);
  });

  test.concurrent("that is not sure where its program is seen to run, as in its own container", async () => {
    const program = { change: "mount -t tmpfs none /mnt && cp /bin/sleep /mnt/envoy", beside: "exec /mnt/envoy 60" };
    const ended = await ebbBeside([], ["quit", "--sidecar", "envoy", "--quit-timeout", "1500ms"], program);
    expect(ended.log.at(-1)).toMatchObject({ msg: failed, outcome: expect.stringContaining("--admin") });
    expect(ended.code).toBe(69);
  });

  test.concurrent("that is not sure where Istio's agent has no port", async () => {
    const annotations = "printf 'status.sidecar.istio.io/port=\"0\"\\n' > /mnt/annotations";
    const args = ["quit", "--sidecar", "istio", "--pod-annotations", "/mnt/annotations", "--quit-timeout", "1500ms"];
    const ended = await ebbBeside([], args, { change: `mount -t tmpfs none /mnt && ${annotations}` });
    expect(ended.code).toBe(69);
  });

  test.concurrent("one that opens them within the second is quit", async () => {
    const ended = await ebbBeside([{ port: 9901, afterMs: 700 }], ["quit", "--sidecar", "envoy"]);
    expect(ended.requests.filter((request) => request.includes("POST"))).toEqual(["9901 POST /quitquitquit"]);
    expect(ended.log.at(-1)).toMatchObject({ msg: "ebb: asked the sidecar to exit", outcome: "exited" });
    expect(ended.code).toBe(0);
  });

  test.concurrent("ebb run says that it is not here, and takes no longer than the quit may", async () => {
    const args = ["run", "--no-wait", "--sidecar", "envoy", "--quit-timeout", "1500ms", "--", "true"];
    const ended = await ebbBeside([], args);
    expect(ended.log.find(({ msg }) => msg === failed)).toMatchObject({ level: "warn" });
    expect(ended.code).toBe(0);
  });
});

test("an address that is not this pod's own loopback tells nothing", async () => {
  const flags = ["--admin", "http://192.0.2.1:9901", "--quit-timeout", "1500ms"];
  expect((await ebb(["quit", "--sidecar", "envoy", ...flags])).code).toBe(69);
});

test.concurrent("--sidecar none leaves nothing to do, which is said", async () => {
  const { code, log } = await ebb(["quit", "--sidecar", "none"]);
  expect([code, log.map(({ level, msg }) => [level, msg])]).toEqual([
    0,
    [["info", "ebb: nothing to shut down: --sidecar none, and neither --quit nor --signal-process"]],
  ]);
});

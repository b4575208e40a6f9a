import { describe, expect, test } from "bun:test";
import { agentFolder, hasEnded, startAgent } from "../../binary/run/agent.ts";
import { childPath } from "../../harness/compiled.ts";
import { ebb, isQuitLine } from "../../harness/ebb.ts";
import { type FakeSidecarOptions, fakeSidecar } from "../../stand-in/sidecar.ts";

const app = [childPath(), "exit", "7"];
const taken: FakeSidecarOptions = { onQuit: (_, response) => response.end("OK\n") };
const after = (ms: number): FakeSidecarOptions => ({
  onQuit: (_, response) => void setTimeout(() => response.end(), ms),
});
const refusing = (status: number): FakeSidecarOptions => ({
  onQuit: (_, response) => response.writeHead(status).end(),
});

describe("only who was told is waited for", () => {
  test("GENERIC_QUIT_ONLY beside ENVOY_ADMIN_API: an endpoint that has answered is done", async () => {
    await using envoy = await fakeSidecar();
    await using generic = await fakeSidecar(taken);
    const env = {
      ENVOY_ADMIN_API: envoy.url,
      START_WITHOUT_ENVOY: "true",
      GENERIC_QUIT_ONLY: "true",
      GENERIC_QUIT_ENDPOINTS: `${generic.url}/stop`,
    };
    const { code, log } = await ebb(["scuttle", ...app], { env });
    const quits = log.filter(isQuitLine);
    expect({ code, asked: generic.requests, envoy: envoy.requests }).toEqual({
      code: 7,
      asked: ["POST /stop"],
      envoy: [],
    });
    expect(quits).toEqual([expect.objectContaining({ sidecar: "custom", outcome: "answered", status: 200 })]);
  });

  test("--quit none leaves the sidecar's own quit out", async () => {
    await using envoy = await fakeSidecar();
    const flags = ["--sidecar", "envoy", "--admin", envoy.url, "--quit", "none"];
    const { code, log } = await ebb(["run", ...flags, "--", ...app]);
    expect({ code, asked: envoy.requests }).toEqual({ code: 7, asked: [] });
    expect(log.filter(isQuitLine)).toEqual([]);
  });
});

describe("each quit has all of --quit-timeout", () => {
  test("one with + that answers after more than half of it", async () => {
    await using companion = await fakeSidecar(after(1400));
    await using sidecar = await fakeSidecar();
    const flags = ["--sidecar", "envoy", "--admin", sidecar.url, "--quit-timeout", "2s"];
    const { log } = await ebb(["quit", ...flags, "--quit", `+${companion.url}/bye`]);
    const outcomes = log.filter(isQuitLine).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(["answered", "exited"]);
  });

  test("one with + where nobody listens holds up nobody", async () => {
    await using companion = await fakeSidecar();
    await companion[Symbol.asyncDispose]();
    await using sidecar = await fakeSidecar();
    const flags = ["--sidecar", "envoy", "--admin", sidecar.url, "--quit-timeout", "2s"];
    const { log } = await ebb(["quit", ...flags, "--quit", `+${companion.url}/bye`]);
    const [other, own] = log.filter(isQuitLine);
    expect([other?.outcome, own?.outcome]).toEqual(["connection refused", "exited"]);
    expect(Number(other?.tookMs)).toBeGreaterThan(1500); // not half of it
    expect(Number(own?.tookMs)).toBeLessThan(Number(other?.tookMs));
    expect(sidecar.requests).toEqual(["POST /quitquitquit"]);
  });

  test("one that has a last resort, of which there is no process", async () => {
    using folder = agentFolder();
    await using sidecar = await fakeSidecar(after(1400));
    const flags = ["--sidecar", "envoy", "--admin", sidecar.url, "--quit-timeout", "2s"];
    const { log } = await ebb(["quit", ...flags, "--signal-process", `+${folder.name}`]);
    expect(log).toEqual([expect.objectContaining({ status: 200, outcome: "answered, but still runs" })]);
  });
});

test.each(["+", ""])("a quit that is answered with 500 is repeated twice (--quit %sURL)", async (mark) => {
  await using generic = await fakeSidecar(refusing(500));
  const flags = ["--sidecar", "none", "--quit-timeout", "20s", "--quit", `${mark}${generic.url}/stop`];
  const { code, log } = await ebb(["quit", ...flags]);
  expect({ code, requests: generic.requests }).toEqual({ code: 69, requests: Array(3).fill("POST /stop") });
  expect(log).toEqual([expect.objectContaining({ outcome: "HTTP 500", status: 500 })]);
});

describe("--signal-process +NAME signals", () => {
  test.each<[string, FakeSidecarOptions, boolean, string]>([
    ["nobody who has taken the quit and drains", taken, false, "1500ms"],
    ["who refuses the quit", refusing(404), true, "30s"],
    ["who answers 500, each time", refusing(500), true, "30s"],
    ["who never answers, after half of the time", { onQuit: () => undefined }, true, "6s"],
  ])("%s", async (_, options, isSignalled, timeout) => {
    using folder = agentFolder();
    await using agent = await startAgent([folder.path, "record", "2"]);
    await using sidecar = await fakeSidecar(options);
    const flags = ["--sidecar", "envoy", "--admin", sidecar.url, "--quit-timeout", timeout];
    const { log } = await ebb(["quit", ...flags, "--signal-process", `+${folder.name}`]);
    expect(hasEnded(agent.pid)).toBe(isSignalled);
    const outcome = isSignalled ? "gone after SIGINT" : "answered, but still runs";
    expect(log.at(-1)).toMatchObject({ sidecar: "envoy", outcome });
    if (!isSignalled) expect(agent.output()).toBe("ready\n");
  });
});

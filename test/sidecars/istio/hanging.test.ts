import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { open, send } from "../../envoy/traffic.ts";
import { drainLineOf, lineOf, until } from "../../harness/ebb.ts";
import { startPair } from "../drain.ts";
import { endOf, run, startReady } from "../life.ts";
import { type Container, startPod } from "../pod.ts";
import { besideIstiod } from "./istiod.ts";
import { istioMesh } from "./subject.ts";

besideIstiod();

/** Of the Envoy that one of pilot-agent's threads has started. */
function envoyOf({ pid }: Container): number {
  const tasks = readdirSync(`/proc/${pid}/task`).map((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8"),
  );
  const children = tasks.join(" ").split(" ").filter(Boolean);
  const envoy = children.find((each) => readFileSync(`/proc/${each}/comm`, "utf8") === "envoy\n");
  if (envoy === undefined) throw new Error("pilot-agent has no Envoy");
  return Number(envoy);
}

describe("an Envoy of Istio's that hangs", () => {
  const mesh = istioMesh();
  const words = ["drain", "--sidecar", "istio", "--min-drain", "1s", "--drain", "30s"]; // an Envoy that hangs proves nothing

  test("is not drained where only its port suggests it, and ebb says how to name it", async () => {
    await using pod = await startPod();
    const { container } = await startReady(mesh, pod);
    process.kill(envoyOf(container), "SIGSTOP");
    const ended = await run(pod, ["drain", "--drain", "5s"]);
    expect(lineOf(ended, "did not drain a proxy")).toMatchObject({
      reason: expect.stringContaining("set --sidecar istio"),
    });
    expect(ended.code).toBe(69);
  });

  test("is drained when the connections that it has accepted have gone", async () => {
    await using pod = await startPod();
    const { beside } = await startPair(mesh, pod);
    const connection = await open(mesh.inboundPort, pod.address);
    await send(connection, "/idle");
    process.kill(envoyOf(beside.container), "SIGSTOP");
    await using started = pod.startEbb(words);
    await until("ebb has counted it", () => started.stderr().includes('"connections":1'), 25_000);
    connection.socket.destroy();
    const ended = await endOf(started);
    expect(lineOf(ended, "counting the work in flight")).toMatchObject({ countedBy: "sockets" });
    expect(drainLineOf(ended)).toMatchObject({ outcome: "drained" });
    expect(ended.code).toBe(0);
  });
});

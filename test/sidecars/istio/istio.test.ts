import { afterAll, beforeAll, expect, test } from "bun:test";
import { open, send } from "../../envoy/traffic.ts";
import { temporaryFolder, until } from "../../harness.ts";
import { startPod } from "../pod.ts";
import { startApp } from "../traffic.ts";
import { redirect, startAgent } from "./agent.ts";
import { ports, startIstiod } from "./istiod.ts";

let istiod: AsyncDisposable;
beforeAll(async () => {
  istiod = await startIstiod();
});
afterAll(() => istiod[Symbol.asyncDispose]());

test("x", async () => {
  const t = performance.now();
  const lap = (s: string) => console.log(s, Math.round(performance.now() - t));
  using folder = temporaryFolder();
  await using pod = await startPod();
  lap("pod");
  await redirect(pod);
  lap("redirect");
  const agent = await startAgent(pod, folder.path);
  lap("agent");
  await startApp(pod, ports.app);
  lap("app");
  await until("ready", async () => (await pod.request("15021/healthz/ready"))?.status === 200).catch((e) => {
    console.log(agent.log());
    throw e;
  });
  lap("ready");
  const connection = await open(ports.app, pod.address);
  expect(await send(connection, "/hello")).toMatchObject({ status: 200 });
  await using started = pod.startEbb(["drain", "--drain", "12s", "--min-drain", "1s"]);
  const ended = await started.ended;
  console.log(ended.code, ended.stderr);
  lap("drain");
});

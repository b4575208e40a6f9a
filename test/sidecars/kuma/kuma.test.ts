import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { quitLineOf } from "../../harness/ebb.ts";
import { drain, drainTests, startPair } from "../drain.ts";
import { factTests } from "../facts.ts";
import { lifeTests, run, startReady } from "../life.ts";
import { type Pod, startPod } from "../pod.ts";
import { stableStatus } from "../status.ts";
import { kuma, socketName } from "./subject.ts";

const [unix, tcp] = [kuma("unix"), kuma("tcp")];

lifeTests(unix);
drainTests(unix);
factTests(unix, {});
lifeTests(tcp);
factTests(tcp, { 404: "POST 9901/nothing", 405: "GET 9901/quitquitquit" });

/** As an Envoy leaves it that was killed: nobody listens. */
async function leaveSocket(pod: Pod): Promise<void> {
  const folder = join(pod.temporary, "kuma-dp-0");
  mkdirSync(folder);
  await pod.run("python3", "-c", `import socket; socket.socket(socket.AF_UNIX).bind("${join(folder, socketName)}")`);
}

test.each([
  ["unix", unix],
  ["tcp", tcp],
] as const)("a socket that a former sidecar has left behind is passed over (%s)", async (_, mesh) => {
  await using pod = await startPod();
  await leaveSocket(pod);
  const { beside } = await startPair(mesh, pod);
  expect((await drain(mesh, pod)).came).toEqual({ code: 0, outcome: "drained" });
  const quit = await run(pod, ["quit"], mesh.env);
  expect(quitLineOf(quit)).toMatchObject({ level: "info", outcome: "exited" });
  expect(await beside.container.ended).toBe(0);
});

test("a failed health check shows in its readiness", async () => {
  await using pod = await startPod();
  await startReady(unix, pod);
  await run(pod, ["drain", "--min-drain", "0", "--drain", "5s"], unix.env);
  expect(await pod.request("9902/ready")).toMatchObject({ status: 503 });
});

test("its status", async () => {
  await using pod = await startPod();
  await startPair(tcp, pod);
  const { sidecars, ...rest } = await stableStatus(pod, tcp.env);
  expect(rest).toEqual({
    stderr: "",
    foundBy: "annotation kuma.io/sidecar-injected",
    findings: ["app-unseen"],
    ports: [5678, 8080, 9901, 9902, 15_001, 15_006],
  });
  const outbound = (port: number): string => `outbound:198.18.0.9:${port} 198.18.0.9:${port} outbound`;
  expect(sidecars).toMatchObject([
    {
      ...{ name: "kuma", native: false, ready: true },
      envoy: {
        ...{ state: "LIVE", problems: [], drained: 0, inFlight: { requests: 0, connections: 0 } },
        listeners: [
          `inbound:${pod.address}:8080 ${pod.address}:8080 inbound`,
          "inbound:passthrough:ipv4 0.0.0.0:15006 inbound",
          `kuma:envoy:admin ${pod.address}:9901 inbound`,
          ...[outbound(9000), outbound(9001)],
          "outbound:passthrough:ipv4 0.0.0.0:15001 outbound",
        ],
      },
    },
  ]);
});

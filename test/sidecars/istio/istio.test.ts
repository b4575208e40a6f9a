import { expect, test } from "bun:test";
import { join } from "node:path";
import { envoyVersion } from "../../../build/setup/envoy.mjs";
import { ebbPath, quitLineOf, temporaryFolder } from "../../harness/ebb.ts";
import { compiledProgram } from "../compile.ts";
import { drainTests, startPair } from "../drain.ts";
import { execTest } from "../exec.ts";
import { factTests } from "../facts.ts";
import { lifeTests, run, startReady } from "../life.ts";
import { startPod } from "../pod.ts";
import { stableStatus } from "../status.ts";
import { besideIstiod } from "./istiod.ts";
import { istioMesh } from "./subject.ts";

besideIstiod();

const istio = istioMesh();
lifeTests(istio);
execTest(istio, "istio-proxy", compiledProgram("pilot-agent").path);
drainTests(istio);
factTests(istio, { 404: "POST 15020/nothing", 405: "GET 15020/quitquitquit" });

test("what a container before this one has drained passes its health checks before the app starts, though Istio has said ready all the time", async () => {
  await using pod = await startPod();
  await startReady(istio, pod);
  const drained = await run(pod, ["drain", "--sidecar", "istio", "--min-drain", "100ms"]);
  expect(drained.code).toBe(0);
  const readiness = async () => [
    (await pod.request("15000/ready"))?.status,
    (await pod.request("15021/healthz/ready"))?.status,
    (await pod.request("15020/healthz/ready"))?.status,
  ];
  expect(await readiness()).toEqual([503, 200, 200]);
  const asks = [ebbPath, "request", "http://localhost:15000/ready"];
  const again = await run(pod, ["run", "--restart-policy", "Always", "--quit-on", "never", "--", ...asks]);
  expect(again.stdout).toBe("LIVE\n");
  const order = [
    "Envoy was still draining for the previous container: made its health checks pass again",
    "started the command",
  ];
  const said = again.log.map(({ msg }) => msg.replace("ebb: ", ""));
  expect(said.filter((msg) => order.includes(msg))).toEqual(order);
  expect(await readiness()).toEqual([200, 200, 200]);
});

test("where pilot-agent has no status port, Envoy's own quit ends it", async () => {
  await using pod = await startPod();
  const { container } = await startReady(istio, pod);
  using folder = temporaryFolder();
  const annotations = join(folder.path, "annotations");
  await Bun.write(annotations, 'status.sidecar.istio.io/port="0"\n');
  const ended = await run(pod, ["quit", "--sidecar", "istio", "--pod-annotations", annotations]);
  expect(quitLineOf(ended)).toMatchObject({ request: "POST http://localhost:15000/quitquitquit", outcome: "exited" });
  expect(await container.ended).toBe(0);
});

test("the status of a default Istio", async () => {
  await using pod = await startPod();
  await startPair(istio, pod);
  const { foundBy, ...status } = await stableStatus(pod);
  expect(foundBy).toMatch(istio.foundBy as RegExp);
  expect(status).toEqual({
    stderr: "",
    sidecars: [
      {
        name: "istio",
        native: false,
        ready: true,
        probes: [{ target: "http://localhost:15021/healthz/ready", ready: true, reason: null }],
        envoy: {
          admin: "http://localhost:15000",
          problems: [],
          state: "LIVE",
          release: envoyVersion,
          epoch: 0,
          drainStrategy: "immediate",
          drainTimeMs: 45_000,
          drained: null,
          inFlight: { requests: 0, connections: 0, hasRequests: true, countedBy: "clusters" },
          listeners: [
            "0.0.0.0_15021 0.0.0.0:15021 null",
            "0.0.0.0_15090 0.0.0.0:15090 null",
            "0.0.0.0_8080 0.0.0.0:8080 outbound",
            "0.0.0.0_9000 0.0.0.0:9000 outbound",
            "0.0.0.0_9002 0.0.0.0:9002 outbound",
            "198.18.0.9_9001 198.18.0.9:9001 outbound",
            "virtualInbound 0.0.0.0:15006 inbound",
            "virtualOutbound 0.0.0.0:15001 outbound",
          ],
        },
      },
    ],
    findings: ["app-unseen"],
    ports: [8080, 15000, 15001, 15006, 15020, 15021, 15090],
  });
});

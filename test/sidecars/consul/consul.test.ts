import { expect, test } from "bun:test";
import { drainTests, startPair } from "../drain.ts";
import { factTests } from "../facts.ts";
import { lifeTests } from "../life.ts";
import { startPod } from "../pod.ts";
import { stableStatus } from "../status.ts";
import { consul } from "./subject.ts";

lifeTests(consul);
drainTests(consul);
factTests(consul, { 404: "POST 19000/nothing", 405: "GET 19000/quitquitquit" }, [20_600]);

test("its status", async () => {
  await using pod = await startPod();
  await startPair(consul, pod);
  const { sidecars, ...rest } = await stableStatus(pod, consul.env);
  expect(rest).toEqual({
    stderr: "",
    foundBy: "annotation consul.hashicorp.com/connect-inject-status",
    findings: ["app-unseen"],
    ports: [1234, 8080, 9000, 9001, 19_000, 20_000],
  });
  expect(sidecars).toMatchObject([
    {
      ...{ name: "consul", native: false, ready: true },
      envoy: {
        ...{ admin: "http://localhost:19000", state: "LIVE", problems: [], drained: 0 },
        ...{ drainStrategy: "immediate", drainTimeMs: 30_000, inFlight: { requests: 0, connections: 0 } },
        listeners: [
          "echo:127.0.0.1:9001 127.0.0.1:9001 outbound",
          `public_listener:${pod.address}:20000 ${pod.address}:20000 inbound`,
          "web:127.0.0.1:9000 127.0.0.1:9000 outbound",
        ],
      },
    },
  ]);
});

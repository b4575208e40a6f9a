import { expect, test } from "bun:test";
import { images, namespace } from "../cluster.ts";
import { envoySidecar, patientLook } from "../envoy.ts";
import { exitCodeOf, hasCondition, podOf } from "../objects.ts";

const { configMap, volume, container: envoy } = envoySidecar({ upstreamPort: 8081 });
const shared = { shareProcessNamespace: true, volumes: [volume] };

test.concurrent("with shareProcessNamespace, where ebb is not PID 1, it reaps, keeps the code, and quits the sidecar", async () => {
  await using here = await namespace();
  const app = {
    name: "app",
    image: images.appInEbb,
    args: ["run", ...patientLook, "--", "/child", "orphans", "50", "9"],
  };
  await here.apply([configMap, podOf("pod", { containers: [app, envoy], ...shared })]);
  await here.until("it has ended", async () => (await here.pod("pod")).status.phase === "Failed");
  const pod = await here.pod("pod");
  expect([exitCodeOf(pod, "app"), exitCodeOf(pod, "envoy")]).toEqual([9, 0]);
});

test.concurrent("with shareProcessNamespace a preStop hook writes to the log of its own container", async () => {
  await using here = await namespace();
  const hook = { preStop: { exec: { command: ["/ebb", "drain", "--min-drain", "1s", "--drain", "20s"] } } };
  const flags = [...patientLook, "--restart-policy", "Always"];
  const args = ["run", ...flags, "--", "/child", "record"];
  const other = { name: "other", image: images.appInEbb, args };
  const containers = [other, { ...other, name: "app", lifecycle: hook }, envoy];
  await here.apply([configMap, podOf("pod", { containers, restartPolicy: "Always", ...shared })]);
  await here.until("it is ready", async () => hasCondition(await here.pod("pod"), "Ready"));
  const names = ["app", "other"];
  for (const name of names) {
    await here.until("the app runs", async () => (await here.logs("pod", name)).includes("ready\n"));
  }
  const logs = names.map((name) => here.kubectl("logs", "--follow", "pod", "-c", name));
  await here.kubectl("delete", "pod", "pod", "--timeout=200s");
  const [ofApp, ofOther] = await Promise.all(logs);
  expect(ofApp).toContain('"ebb: draining"');
  expect(ofOther).not.toContain('"ebb: draining"');
});

test.concurrent("with hostPID no process of another pod is signalled, as pkill would", async () => {
  await using here = await namespace();
  const victim = { name: "victim", image: images.app, command: ["/child", "record"] };
  await here.apply([podOf("victim", { containers: [victim] })]);
  await here.until("it runs", async () => (await here.logs("victim", "victim")).includes("ready\n"));
  const args = ["quit", "--sidecar", "none", "--quit-timeout", "3s", "--signal-process", "child"];
  await here.apply([podOf("on-node", { containers: [{ name: "app", image: images.ebb, args }], hostPID: true })]);
  await here.until("it has ended", async () => (await here.pod("on-node")).status.phase === "Failed");
  expect(exitCodeOf(await here.pod("on-node"), "app")).toBe(69);
  expect(await here.logs("on-node", "app")).toMatch(/only other pods run it here \(\d+ process(es)?\): left alone/);
  expect(await here.logs("victim", "victim")).toBe("ready\n");
});

import { describe, expect, test } from "bun:test";
import { images, namespace } from "../cluster.ts";
import { envoyPort, envoySidecar } from "../envoy.ts";
import { exitCodeOf, hasCondition, podOf, statusOf } from "../objects.ts";

const { configMap, volume, container: envoy } = envoySidecar({ upstreamPort: 8081 });
/** It does not quit the sidecar: that is what the tests do. */
const app = { name: "app", image: images.appInEbb, args: ["run", "--quit-on", "never", "--", "/child", "record"] };
const pod = podOf("pod", { containers: [app, envoy], volumes: [volume] });

interface Status {
  readonly sidecars: readonly {
    name: string;
    ready: boolean;
    envoy: { state: string; listeners: readonly object[] };
  }[];
  readonly processes: { readonly initIsEbb: boolean; readonly child: { readonly command: readonly string[] } };
  readonly findings: readonly { readonly kind: string }[];
}

describe("kubectl exec POD -- /ebb, beside a real Envoy:", () => {
  test.concurrent("status, request and quit, and their exit codes", async () => {
    await using here = await namespace();
    await here.apply([configMap, pod]);
    await here.until("it is ready", async () => hasCondition(await here.pod("pod"), "Ready"));
    await here.until("the app runs", async () => (await here.logs("pod", "app")).includes("ready\n"));
    const ebb = (...words: readonly string[]) => here.exec("pod", "app", "/ebb", ...words);

    const text = await ebb("status");
    expect(text).toMatchObject({ code: 0, stderr: "" });
    expect(text.stdout).toContain("envoy: LIVE, ready\n");
    expect(text.stdout).toContain("its command");
    const status: Status = JSON.parse((await ebb("status", "--json")).stdout);
    expect(status.sidecars).toMatchObject([{ name: "envoy", ready: true, envoy: { state: "LIVE" } }]);
    expect(status.sidecars[0]?.envoy.listeners).toMatchObject([{ name: "inbound", direction: "inbound" }]);
    expect(status.processes).toMatchObject({ initIsEbb: true, child: { command: ["/child", "record"] } });

    const ready = await ebb("request", "/ready");
    expect(ready).toEqual({ code: 0, stdout: "LIVE\n", stderr: "" });
    const nothing = await ebb("request", `http://localhost:${envoyPort}/`);
    expect(nothing.code).toBe(1); // nobody listens on the app's port: Envoy says 503
    expect(nothing.stderr).toContain("503");
    expect((await ebb("wait", "--timeout", "1s")).code).toBe(64);

    const quit = await ebb("quit");
    expect(quit.code).toBe(0);
    expect(quit.stderr).toContain("exited");
    await here.until("Envoy has ended", async () => exitCodeOf(await here.pod("pod"), "envoy") === 0);
    expect(statusOf(await here.pod("pod"), "app")?.state.running).toBeDefined();
    const after: Status = JSON.parse((await ebb("status", "--json")).stdout);
    expect(after.sidecars).toEqual([]);
  });

  test.concurrent("what it would find in the app's container it finds from one for debugging, too", async () => {
    await using here = await namespace();
    const stuck = podOf("pod", {
      containers: [{ name: "app", image: images.app, args: ["exit", "0"] }, envoy],
      volumes: [volume],
    });
    await here.apply([configMap, stuck]);
    await here.until("the app has ended, Envoy goes on", async () => {
      const pod = await here.pod("pod");
      return exitCodeOf(pod, "app") === 0 && statusOf(pod, "envoy")?.ready === true;
    });
    const debug = (name: string, ...words: readonly string[]) =>
      here.kubectl(
        "debug",
        "pod",
        "--image",
        images.ebb,
        "--container",
        name,
        "--profile",
        "restricted",
        "--",
        "/ebb",
        ...words,
      );
    await debug("look", "status", "--json");
    await here.until("it has looked", async () => exitCodeOf(await here.pod("pod"), "look") !== undefined);
    const status: Status = JSON.parse(await here.logs("pod", "look"));
    expect(status.sidecars).toMatchObject([{ name: "envoy", ready: true }]);
    await debug("quit", "quit");
    await here.until("the pod has ended", async () => (await here.pod("pod")).status.phase === "Succeeded");
    expect(exitCodeOf(await here.pod("pod"), "quit")).toBe(0);
    expect(exitCodeOf(await here.pod("pod"), "envoy")).toBe(0);
  });
});

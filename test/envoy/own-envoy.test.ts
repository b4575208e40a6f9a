import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { envoyPath } from "../../build/setup/envoy.mjs";
import { SIG } from "../../src/shared/core/signal.ts";
import { firstProcess, startPodNetwork } from "../binary/run/pod-of-containers.ts";
import { childPath } from "../harness/compiled.ts";
import { canUnshare, drainLineOf, startEbb, temporaryFolder, until } from "../harness/ebb.ts";
import { freePort } from "../harness/free-port.ts";
import { describeAgainstEnvoy, says } from "./against-envoy.ts";
import { configurationOf } from "./bootstrap.ts";
import { holdRequest, startBackend } from "./traffic.ts";

setDefaultTimeout(60_000);

interface Web {
  readonly command: readonly string[];
}

interface Proxy {
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
}

const page = readFileSync(join(import.meta.dirname, "../../src/manual/drain.md"), "utf8");
const [, block = ""] = /\n## An Envoy of your own\n[\s\S]*?\n((?: {4}- name: .*\n)(?: {4}.*\n)+)/.exec(page) ?? [];
const [web, proxy] = Bun.YAML.parse(block) as [Web, Proxy];

const canBePod = canUnshare("--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child");

describeAgainstEnvoy("the manual's pod with an Envoy of one's own", () => {
  test.skipIf(!canBePod)(
    "answers what is in flight when its pod is deleted, and its hook waits for the app",
    async () => {
      await using backend = await startBackend();
      const port = await freePort();
      using folder = temporaryFolder();
      const config = join(folder.path, "envoy.json");
      const admin = join(folder.path, "admin.sock"); // containers of the pod's network reach it, and its listener is here
      const listeners = [{ name: "web", direction: "INBOUND" as const }];
      const plan = { admin: { path: admin }, listenerPort: port, listeners, upstreamPort: backend.port };
      writeFileSync(config, JSON.stringify(configurationOf(plan).bootstrap));
      await using envoy = startEbb(
        ["--config-path", config, "--disable-hot-restart", "--concurrency", "1", "--log-level", "off"],
        { program: envoyPath() as string },
      );
      await using pod = await startPodNetwork();
      const env = { EBB_ADMIN: `unix:${admin}` };
      await using app = pod.start([...web.command.slice(1), childPath(), "record", `${SIG.TERM}`], { env });
      await until("the app runs", () => app.stdout() === "ready\n");
      const held = await holdRequest({ port, backend }, "/hold/1");

      // as the kubelet does: the app has no hook, and gets SIGTERM while Envoy's hook runs
      process.kill(await firstProcess(app), "SIGTERM");
      await using hook = pod.start(proxy.lifecycle.preStop.exec.command.slice(1), { env });
      await says(hook, "holding the proxy");
      await says(app, "draining the listeners");
      expect(await held.finish()).toBe("200 /hold/1");
      const ended = await app.ended;
      const hookEnded = await hook.ended;
      envoy.kill("SIGTERM");
      expect([ended.code, hookEnded.code, (await envoy.ended).code]).toEqual([0, 0, 0]);
      expect(drainLineOf(ended)).toMatchObject({ outcome: "drained" });
      expect(hookEnded.log.at(-1)?.msg).toBe("ebb: the apps have ended: letting the proxy go");
      expect(ended.stdout).toBe("ready\n15\n");
    },
  );
});

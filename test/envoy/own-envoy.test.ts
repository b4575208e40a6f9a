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
import { holdRequest, startBackend } from "./traffic.ts";

setDefaultTimeout(60_000);

interface Container {
  readonly name: string;
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
}

const [, section = ""] =
  /\n## An Envoy of your own\n([\s\S]*?)\n## /.exec(
    readFileSync(join(import.meta.dirname, "../../src/manual/drain.md"), "utf8"),
  ) ?? [];
const [deployment, configMap] = [...section.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml = ""]) =>
  Bun.YAML.parse(yaml),
) as [{ spec: { template: { spec: { containers: [Container, Container] } } } }, { data: Record<string, string> }];
const [web, proxy] = deployment.spec.template.spec.containers;

const canBePod = canUnshare("--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child");

describeAgainstEnvoy("the manual's Deployment with an Envoy of one's own", () => {
  test.skipIf(!canBePod)(
    "answers what is in flight when its pod is deleted, and its hook waits for the app",
    async () => {
      await using backend = await startBackend();
      const port = await freePort();
      using folder = temporaryFolder();
      const config = join(folder.path, "envoy.yaml");
      const admin = join(folder.path, "admin.sock"); // containers of the pod's network reach it, and its listener is here
      const bootstrap = Object.entries({
        "socket_address: { address: 127.0.0.1, port_value: 9901 }": `pipe: { path: ${admin} }`,
        "port_value: 8080 ": `port_value: ${port} `,
        "port_value: 8081 ": `port_value: ${backend.port} `,
      }).reduce((text, [manual, own]) => text.replace(manual, own), configMap.data["envoy.yaml"] as string);
      writeFileSync(config, bootstrap);
      const flags = proxy.args.map((arg) => arg.replace("/etc/envoy/envoy.yaml", config));
      await using envoy = startEbb([...flags, "--disable-hot-restart", "--concurrency", "1", "--log-level", "off"], {
        program: envoyPath() as string,
      });
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

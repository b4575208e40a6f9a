import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { envoyPath } from "../../build/setup/envoy.mjs";
import { SIG } from "../../src/shared/core/signal.ts";
import { childPath } from "../compiled.ts";
import { freePort } from "../free-port.ts";
import { drainLineOf, startEbb, temporaryFolder, until } from "../harness.ts";
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

describeAgainstEnvoy("the manual's Deployment with an Envoy of one's own", () => {
  test("answers what is in flight when its pod is deleted, and both containers end", async () => {
    await using backend = await startBackend();
    const [adminPort, port] = [await freePort(), await freePort()];
    using folder = temporaryFolder();
    const config = join(folder.path, "envoy.yaml");
    const ports = { 9901: adminPort, 8080: port, 8081: backend.port };
    const bootstrap = Object.entries(ports).reduce(
      (text, [manual, own]) => text.replace(`port_value: ${manual} `, `port_value: ${own} `),
      configMap.data["envoy.yaml"] as string,
    );
    writeFileSync(config, bootstrap);
    const flags = proxy.args.map((arg) => arg.replace("/etc/envoy/envoy.yaml", config));
    await using envoy = startEbb([...flags, "--disable-hot-restart", "--concurrency", "1", "--log-level", "off"], {
      program: envoyPath() as string,
    });
    const env = { EBB_ADMIN: `http://127.0.0.1:${adminPort}` };
    await using app = startEbb([...web.command.slice(1), childPath(), "record", `${SIG.TERM}`], { env });
    await until("the app runs", () => app.stdout() === "ready\n");
    const held = await holdRequest({ port, backend }, "/hold/1");

    // as the kubelet does: the app has no hook, and gets SIGTERM while Envoy's hook runs
    app.kill("SIGTERM");
    await using hook = startEbb(proxy.lifecycle.preStop.exec.command.slice(1), { env });
    await says(app, "draining the listeners");
    await says(hook, '"requests":1');
    expect(await held.finish()).toBe("200 /hold/1");
    const drained = await hook.ended;
    envoy.kill("SIGTERM");
    const ended = await app.ended;
    expect([drained.code, ended.code, (await envoy.ended).code]).toEqual([0, 0, 0]);
    for (const each of [drained, ended]) expect(drainLineOf(each)).toMatchObject({ outcome: "drained" });
    expect(ended.stdout).toBe("ready\n15\n");
  });
});

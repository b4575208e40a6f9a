import { describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { ebb, lineOf, startEbb, temporaryFolder, until } from "../../../harness/ebb.ts";
import { listen } from "../../../harness/free-port.ts";
import { mountCertificate, nonEmpty, pod, portOf, said, startUnready, startWebhook, webhookFlags } from "./webhook.ts";

describe("ebb webhook", () => {
  test("answers the API server with the change, and logs what it did", async () => {
    await using webhook = await startWebhook();
    const owned = { ...pod, metadata: { ...pod.metadata, ownerReferences: [{ kind: "ReplicaSet", name: "web-7c" }] } };
    const answer = await webhook.ask({ object: owned });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json"]);
    const { response } = (await answer.json()) as { response: { patch: string } };
    expect(response).toMatchObject({ uid: "7d0c", allowed: true, patchType: "JSONPatch" });
    const operations = JSON.parse(Buffer.from(response.patch, "base64").toString());
    expect(operations).toContainEqual({ op: "add", path: "/spec/containers/0/command/0", value: "/ebb.dev/ebb" });
    const [line] = await until("it is logged", () => nonEmpty(said(webhook, "injected ebb into a pod")));
    expect(line).toMatchObject({
      level: "info",
      requestUid: "7d0c",
      namespace: "shop",
      pod: "web-*",
      owner: "ReplicaSet/web-7c",
      containers: ["app"],
      durationMs: expect.any(Number),
    });
    expect(line).not.toHaveProperty("dryRun");
  });

  test("says to whoever created a pod why it cannot be changed", async () => {
    await using webhook = await startWebhook();
    const metadata = { ...pod.metadata, annotations: { "ebb.dev/inject": "yes" } };
    const answer = await webhook.ask({ object: { ...pod, metadata }, dryRun: true });
    expect(await answer.json()).toMatchObject({ response: { allowed: false, status: { code: 422 } } });
    const [line] = await until("it is logged", () => nonEmpty(said(webhook, "refused a pod")));
    expect(line).toMatchObject({ level: "warn", dryRun: true, reason: expect.stringContaining("ebb.dev/inject") });
  });

  test("says to whoever created a pod of an unknown command that --registries names no registry, and counts it", async () => {
    await using webhook = await startWebhook();
    const spec = { containers: [{ name: "app", image: "app" }] };
    const { response } = (await (await webhook.ask({ object: { ...pod, spec } })).json()) as Answered;
    expect(response.allowed).toBe(true);
    expect(response.warnings).toEqual([expect.stringContaining("docker.io is not among --registries")]);
    const [line] = await until("it is logged", () => nonEmpty(said(webhook, "injected ebb into a pod")));
    expect(line).toMatchObject({ level: "warn", containers: [], drained: ["app"] });
    const metrics = await (await fetch(`${webhook.health}/metrics`)).text();
    expect(metrics).toContain('ebb_webhook_image_lookups_total{result="not-allowed"} 1\n');
    expect(metrics).toContain("ebb_webhook_unwrapped_containers_total 1\n");
  });

  test("is ready once it has a certificate, alive before, and says why not", async () => {
    using mounted = mountCertificate(false);
    await using started = startUnready(mounted);
    const health = `http://127.0.0.1:${await portOf(started, "serving probes and metrics")}`;
    const ask = async (path: string) => await fetch(`${health}${path}`).catch(() => undefined);
    const alive = await until("it is alive", () => ask("/healthz"), 60_000);
    expect(alive.status).toBe(200);
    const ready = await ask("/readyz");
    expect(ready?.status).toBe(503);
    expect(await ready?.text()).toMatch(/^no certificate yet: \/.*\/tls.crt: no such file or directory/);
    mounted.renew();
    await until("it is ready", async () => (await ask("/readyz"))?.status === 200, 60_000);
    started.kill("SIGTERM");
  });

  test("is not ready any more once its certificate has expired", async () => {
    await using webhook = await startWebhook([], mountCertificate(true, 3000));
    const ready = async () => await (await fetch(`${webhook.health}/readyz`)).text();
    await until("it has expired", async () => (await ready()) === "the certificate has expired\n", 30_000);
  });

  test("tells Prometheus what it decided, how long that took, and when its certificate expires", async () => {
    await using webhook = await startWebhook();
    await webhook.ask();
    await webhook.ask({ operation: "DELETE" });
    await webhook.ask({ object: { ...pod, spec: {} } });
    await webhook.ask({}, { method: "PUT" });
    const answer = await fetch(`${webhook.health}/metrics`);
    expect(answer.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
    const text = await answer.text();
    const value = (name: string) =>
      Number(new RegExp(`^${name.replaceAll(/[{}"]/g, "\\$&")} (\\S+)$`, "m").exec(text)?.[1]);
    for (const [result, count] of Object.entries({ injected: 1, unchanged: 1, refused: 1, skipped: 0 })) {
      expect(value(`ebb_webhook_requests_total{result="${result}"}`)).toBe(count);
    }
    expect(value('ebb_webhook_responses_total{code="200"}')).toBe(3);
    expect(value('ebb_webhook_responses_total{code="405"}')).toBe(1);
    expect(value("ebb_webhook_request_duration_seconds_count")).toBe(3);
    expect(value("ebb_webhook_patch_bytes_count")).toBe(1);
    expect(value("ebb_webhook_requests_in_flight")).toBe(0);
    expect(value("ebb_webhook_certificate_expiry_timestamp_seconds")).toBeGreaterThan(Date.now() / 1000);
    expect(value('ebb_build_info{version="0.1.0"}')).toBe(1);
    expect(value("process_resident_memory_bytes")).toBeGreaterThan(1e6);
    expect((await fetch(`${webhook.health}/else`)).status).toBe(404);
    expect((await fetch(`${webhook.health}/readyz`, { method: "POST" })).status).toBe(405);
  });

  test.each([
    [["--listen", "nowhere"], "--listen: expected an address"],
    [["--listen", ":65536"], "--listen: expected an address"],
    [["--name", "My Service"], "--name: expected a name"],
    [["more"], "more: unexpected argument"],
  ])("with %j is exit code 64, and says why", async (flags, reason) => {
    using folder = temporaryFolder();
    const { code, stderr } = await ebb(["webhook", ...webhookFlags, "--cert-dir", folder.path, ...flags]);
    expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringContaining(reason) });
  });

  test("takes its options from the environment, too, and warns of variables that set nothing", async () => {
    using mounted = mountCertificate();
    const env = {
      EBB_IMAGE: "registry.example.com/ebb:2",
      EBB_LISTEN: "127.0.0.1:0",
      EBB_HEALTH_LISTEN: "127.0.0.1:0",
      EBB_CERT_DIR: mounted.path,
      EBB_MIN_DRAIN: "0",
      EBB_LISTENS: "1",
    };
    await using started = startEbb(["webhook"], { env });
    await portOf(started, "serving admission requests");
    started.kill("SIGTERM");
    const { code, log } = await started.ended;
    expect(code).toBe(0);
    expect(log.filter(({ level }) => level === "warn")).toMatchObject([{ variable: "EBB_LISTENS" }]);
  });

  test("without an image for the pods is exit code 64", async () => {
    const { code, stderr } = await ebb(["webhook"]);
    expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringContaining("--image") });
  });

  test.each(["--listen", "--health-listen"])(
    "whose address of %s is taken is exit code 71, and names it",
    async (flag) => {
      using mounted = mountCertificate();
      await using taken = await listening();
      const places = { "--listen": "127.0.0.1:0", "--health-listen": "127.0.0.1:0", [flag]: `127.0.0.1:${taken.port}` };
      const flags = [...Object.entries(places).flat(), "--cert-dir", mounted.path];
      const { code, stderr } = await ebb(["webhook", "--image", "ebb:1", ...flags]);
      expect({ code, stderr }).toEqual({ code: 71, stderr: expect.stringContaining(`${flag}: `) });
    },
  );

  test("that is told to stop before it has a certificate ends with 0", async () => {
    using mounted = mountCertificate(false);
    await using started = startUnready(mounted);
    await portOf(started, "serving probes and metrics");
    started.kill("SIGTERM");
    const ended = await started.ended;
    expect([ended.code, ended.signal]).toEqual([0, null]);
    expect(() => lineOf(ended, "serving admission requests")).toThrow();
  });
});

interface Answered {
  readonly response: { readonly allowed: boolean; readonly warnings: readonly string[] };
}

/** A port where something listens already. */
async function listening() {
  const server = createServer();
  const port = await listen(server);
  return { port, [Symbol.asyncDispose]: async () => void server.close() };
}

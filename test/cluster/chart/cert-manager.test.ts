import { test } from "bun:test";
import { namespace } from "../cluster.ts";
import { startCertManager } from "../webhook/cert-manager.ts";
import { createPod, inject } from "../webhook/installation.ts";
import { release, valuesFor } from "./release.ts";

test("Helm takes the webhook to cert-manager's certificate, and back to its own", async () => {
  using _ = await startCertManager();
  await using asked = await namespace();
  await using installed = await release("helm");
  const { webhook, ...values } = valuesFor(asked) as { readonly webhook: object };
  await installed.withChart("install", { ...values, webhook });
  for (const certManager of [true, false]) {
    await installed.withChart("upgrade", { ...values, webhook: { ...webhook, certManager } });
    await installed.here.until("no replica has the other certificate", async () => {
      const pods = await installed.here.pods("app.kubernetes.io/component=webhook");
      return pods.every(({ spec }) => JSON.stringify(spec).includes("webhook-tls") === certManager);
    });
    await asked.until("pods get ebb", async () => (await createPod(asked, inject)).initContainers.length > 0);
  }
}, 600_000);

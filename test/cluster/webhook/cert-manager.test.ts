import { expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { kubectl } from "../kubectl.ts";
import { type Condition, hasCondition, type KubeObject } from "../objects.ts";
import { startCertManager } from "./cert-manager.ts";
import { startInstallation } from "./installation.ts";

interface Certificate extends KubeObject {
  readonly spec: { readonly secretName: string };
  readonly status: { readonly conditions: readonly Condition[] };
}

interface Secret extends KubeObject {
  readonly data: Readonly<Record<string, string>>;
}

test("with certManager the webhook serves cert-manager's certificate, without a token or a right", async () => {
  using certManager = await startCertManager();
  await using installed = await startInstallation({ webhook: { replicas: 1, certManager: true } }).catch((error) => {
    throw new Error(`${error}\n${certManager.log()}`);
  });
  const { here, name } = installed;

  const certificate = await here.object<Certificate>(`certificate/${name}`);
  expect(hasCondition(certificate, "Ready")).toBe(true);
  const { secretName } = certificate.spec;
  const { data } = await here.object<Secret>(`secret/${secretName}`);
  const served = new X509Certificate(Buffer.from(data["tls.crt"] ?? "", "base64"));
  expect(served.subjectAltName).toContain(`DNS:${name}.${here.name}.svc`);
  const path = "jsonpath={.webhooks[0].clientConfig.caBundle}";
  expect(await kubectl(["get", "mutatingwebhookconfigurations", name, "-o", path])).toBe(data["ca.crt"] as string);
  const [pod] = await here.pods("app.kubernetes.io/component=webhook");
  expect(JSON.stringify(pod?.spec)).not.toContain("serviceAccountToken");
});

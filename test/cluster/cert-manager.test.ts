import { expect, test } from "bun:test";
import { parseAllDocuments } from "yaml";
import { issueAuthority, issueServing } from "../../src/kube/certificates/issue.ts";
import { createPod, inject, installation } from "./installation.ts";
import { kubectl } from "./kubectl.ts";
import type { KubeObject } from "./objects.ts";

interface Certificate extends KubeObject {
  readonly spec: { readonly secretName: string; readonly dnsNames?: readonly string[]; readonly isCA?: boolean };
}

// cert-manager itself is played here: what it makes of the Certificate and of the registration's annotation.

test("with --cert-manager the webhook serves the certificate of that Secret, without a token or a right", async () => {
  await using installed = await installation("--cert-manager", "--replicas", "1");
  const { here, name } = installed;
  const all = parseAllDocuments(installed.yaml).map((document) => document.toJS() as KubeObject);
  const isCertManagers = ({ apiVersion }: KubeObject) => apiVersion.startsWith("cert-manager.io/");
  const certificate = all.find(({ kind, spec }) => kind === "Certificate" && !(spec as Certificate["spec"]).isCA);
  const { secretName, dnsNames = [] } = (certificate as Certificate).spec;
  await here.apply(all.filter((object) => !isCertManagers(object)));

  const life = { fromMs: Date.now() - 60_000, untilMs: Date.now() + 3_600_000 };
  const authority = issueAuthority(life);
  const { cert, key } = issueServing(dnsNames, life, authority);
  const stringData = { "tls.crt": cert, "tls.key": key, "ca.crt": authority.cert };
  const metadata = { name: secretName };
  await here.apply([{ apiVersion: "v1", kind: "Secret", type: "kubernetes.io/tls", metadata, stringData }]);
  const value = Buffer.from(authority.cert).toString("base64");
  const patch = JSON.stringify([{ op: "add", path: "/webhooks/0/clientConfig/caBundle", value }]);
  await kubectl(["patch", "mutatingwebhookconfigurations", name, "--type=json", "-p", patch]);

  const there = await installed.namespace();
  await here.until("pods get ebb", async () => (await createPod(there, inject)).initContainers.length > 0);
  await there[Symbol.asyncDispose]();
  const [pod] = await here.pods("app.kubernetes.io/component=webhook");
  expect(JSON.stringify(pod?.spec)).not.toContain("serviceAccountToken");
});

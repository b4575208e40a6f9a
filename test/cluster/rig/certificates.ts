import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { runTool } from "./daemon.ts";
import { apiServer, network, node, type Place } from "./place.ts";

/** The subject of each certificate, as Kubernetes reads it (CN is the user, O the group), and a server's names. */
const certificates = {
  "kube-apiserver": {
    subject: "/CN=kube-apiserver",
    names: [
      ...["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"].map((name) => `DNS:${name}`),
      ...["127.0.0.1", network.kubernetes, network.node].map((address) => `IP:${address}`),
    ],
  },
  kubelet: { subject: `/O=system:nodes/CN=system:node:${node}`, names: [`DNS:${node}`, `IP:${network.node}`] },
  admin: { subject: "/O=system:masters/CN=admin", names: [] },
  "kube-controller-manager": { subject: "/CN=system:kube-controller-manager", names: [] },
  "kube-scheduler": { subject: "/CN=system:kube-scheduler", names: [] },
  "kube-proxy": { subject: "/CN=system:kube-proxy", names: [] },
} as const;

const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/**
 * Makes a CA, the certificates that it signs, `service-accounts.key`, and a kubeconfig for each of them, with openssl.
 */
export async function makeCertificates({ at }: Place): Promise<void> {
  mkdirSync(at("pki"), { recursive: true });
  const pki = (name: string): string => at("pki", name);
  const issue = (name: string, subject: string, ...more: readonly string[]): Promise<string> =>
    runTool(
      ...["openssl", "req", "-x509", "-days", "3650", "-subj", subject, ...key],
      ...["-keyout", pki(`${name}.key`), "-out", pki(`${name}.crt`), ...more],
    );
  await issue("ca", "/CN=ebb-test-ca");
  const signed = ["-CA", pki("ca.crt"), "-CAkey", pki("ca.key"), "-addext", "basicConstraints=CA:FALSE"];
  const issueSigned = ([name, { subject, names }]: [string, { subject: string; names: readonly string[] }]) => {
    const usage = names.length > 0 ? "serverAuth,clientAuth" : "clientAuth";
    const alternatives = names.length > 0 ? ["-addext", `subjectAltName=${names.join(",")}`] : [];
    return issue(name, subject, ...signed, "-addext", `extendedKeyUsage=${usage}`, ...alternatives);
  };
  await Promise.all(Object.entries(certificates).map(issueSigned));
  await issue("service-accounts", "/CN=service-accounts");
  for (const user of Object.keys(certificates)) writeFileSync(at(`${user}.kubeconfig`), kubeconfig(user, pki));
}

function kubeconfig(user: string, pki: (name: string) => string): string {
  const base64 = (name: string): string => readFileSync(pki(name)).toString("base64");
  const credentials = {
    "client-certificate-data": base64(`${user}.crt`),
    "client-key-data": base64(`${user}.key`),
  };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: { server: apiServer, "certificate-authority-data": base64("ca.crt") } }],
    users: [{ name: user, user: credentials }],
    contexts: [{ name: "test", context: { cluster: "test", user } }],
    "current-context": "test",
  });
}

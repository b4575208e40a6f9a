import { formatDuration } from "../../core/base/duration.ts";
import {
  type Installation,
  type KubernetesObject,
  type Manifest,
  metadataIn,
  nameOf,
  namespaceOf,
  secretOf,
} from "./installation.ts";

const group = "cert-manager.io";
const apiVersion = `${group}/v1`;
const key = { algorithm: "ECDSA", size: 256 } as const;

/**
 * Returns cert-manager's Issuers and Certificates: a long-lived CA that signs itself, and the webhook's certificate,
 * which it signs. A renewed CA keeps its key, so that what it has signed is still trusted.
 */
export function certManagerManifests(installation: Installation): readonly Manifest[] {
  const name = nameOf(installation, "webhook");
  const [ca, selfSigned, host] = [
    `${name}-ca`,
    `${name}-self-signed`,
    `${name}.${namespaceOf(installation, "webhook")}.svc`,
  ];
  return [
    {
      about: "By cert-manager: a CA that signs itself, lasts, and keeps its key;",
      object: issuer(installation, selfSigned, { selfSigned: {} }),
    },
    {
      object: certificate(installation, ca, {
        isCA: true,
        commonName: ca,
        secretName: ca,
        duration: formatDuration(installation.caValidity),
        privateKey: { ...key, rotationPolicy: "Never" },
        issuerRef: { group, kind: "Issuer", name: selfSigned },
      }),
    },
    {
      about: "and the webhook's certificate, which it reads again when it is renewed.",
      object: issuer(installation, ca, { ca: { secretName: ca } }),
    },
    {
      object: certificate(installation, name, {
        dnsNames: [host, `${host}.cluster.local`],
        secretName: secretOf(installation),
        duration: formatDuration(installation.certificateValidity),
        usages: ["digital signature", "server auth"],
        privateKey: { ...key, rotationPolicy: "Always" },
        issuerRef: { group, kind: "Issuer", name: ca },
      }),
    },
  ];
}

function issuer(installation: Installation, name: string, spec: unknown): KubernetesObject {
  return { apiVersion, kind: "Issuer", metadata: { ...metadataIn(installation, "webhook"), name }, spec };
}

function certificate(installation: Installation, name: string, spec: unknown): KubernetesObject {
  return { apiVersion, kind: "Certificate", metadata: { ...metadataIn(installation, "webhook"), name }, spec };
}

import { createHash, createPrivateKey, generateKeyPairSync, randomBytes, sign, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { AsnConvert, OctetString } from "@peculiar/asn1-schema";
import * as x509 from "@peculiar/asn1-x509";
import { AUTHORITY_NAME, type KeyPair } from "./held.ts";

// Certificates as RFC 5280 has them, on P-256: DER by @peculiar/asn1-x509, keys and signatures by the runtime.

/** The validity of a certificate to create, in milliseconds since the epoch. */
interface Validity {
  readonly fromMs: number;
  readonly untilMs: number;
}

const ECDSA_SHA256 = "1.2.840.10045.4.3.2";
const COMMON_NAME = "2.5.4.3";
const { digitalSignature, keyCertSign, cRLSign } = x509.KeyUsageFlags;

/** Creates a self-signed CA that may not sign further CAs, named AUTHORITY_NAME, with a new P-256 key. */
export function issueAuthority(order: Validity): KeyPair {
  const pair = generateKeyPair();
  const usage = [
    extension(x509.id_ce_basicConstraints, new x509.BasicConstraints({ cA: true, pathLenConstraint: 0 }), true),
    extension(x509.id_ce_keyUsage, new x509.KeyUsage(keyCertSign | cRLSign), true),
    extension(x509.id_ce_subjectKeyIdentifier, new x509.SubjectKeyIdentifier(keyIdentifier(pair.publicKey))),
  ];
  const name = commonName(AUTHORITY_NAME);
  const cert = issue({ ...order, issuer: name, subject: name, publicKey: pair.publicKey, extensions: usage }, pair.key);
  return { cert, key: pair.key };
}

/**
 * Creates a server certificate for these host names and IP addresses, with a new P-256 key, signed by `authority`. It
 * expires with its CA if `untilMs` is later.
 */
export function issueServing(names: readonly string[], { fromMs, untilMs }: Validity, authority: KeyPair): KeyPair {
  const pair = generateKeyPair();
  const ca = AsnConvert.parse(new X509Certificate(authority.cert).raw, x509.Certificate).tbsCertificate;
  const caKey = new x509.KeyIdentifier(keyIdentifier(ca.subjectPublicKeyInfo));
  const [first = ""] = names;
  const extensions = [
    extension(x509.id_ce_basicConstraints, new x509.BasicConstraints(), true),
    extension(x509.id_ce_keyUsage, new x509.KeyUsage(digitalSignature), true),
    extension(x509.id_ce_extKeyUsage, new x509.ExtendedKeyUsage([x509.id_kp_serverAuth])),
    extension(x509.id_ce_authorityKeyIdentifier, new x509.AuthorityKeyIdentifier({ keyIdentifier: caKey })),
    extension(x509.id_ce_subjectAltName, new x509.SubjectAlternativeName(names.map(alternative))),
  ];
  const life = { fromMs, untilMs: Math.min(untilMs, ca.validity.notAfter.getTime().getTime()) };
  // a common name is at most 64 characters long (RFC 5280, ub-common-name), and nobody reads it
  const subject = commonName(first.length > 64 ? "ebb webhook" : first);
  const { publicKey } = pair;
  const cert = issue({ ...life, issuer: ca.subject, subject, publicKey, extensions }, authority.key);
  return { cert, key: pair.key };
}

interface Contents extends Validity {
  readonly issuer: x509.Name;
  readonly subject: x509.Name;
  readonly publicKey: x509.SubjectPublicKeyInfo;
  readonly extensions: x509.Extension[];
}

function issue({ fromMs, untilMs, issuer, subject, publicKey, extensions }: Contents, signingKey: string): string {
  const algorithm = new x509.AlgorithmIdentifier({ algorithm: ECDSA_SHA256 });
  const tbsCertificate = new x509.TBSCertificate({
    version: x509.Version.v3,
    serialNumber: serialNumber(),
    signature: algorithm,
    issuer,
    subject,
    validity: new x509.Validity({ notBefore: new Date(fromMs), notAfter: new Date(untilMs) }),
    subjectPublicKeyInfo: publicKey,
    extensions: new x509.Extensions(extensions),
  });
  const signature = sign("sha256", Buffer.from(AsnConvert.serialize(tbsCertificate)), createPrivateKey(signingKey));
  const signatureValue = Uint8Array.from(signature).buffer;
  const der = AsnConvert.serialize(
    new x509.Certificate({ tbsCertificate, signatureAlgorithm: algorithm, signatureValue }),
  );
  return pem("CERTIFICATE", Buffer.from(der));
}

function generateKeyPair(): { key: string; publicKey: x509.SubjectPublicKeyInfo } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    publicKey: AsnConvert.parse(publicKey.export({ type: "spki", format: "der" }), x509.SubjectPublicKeyInfo),
  };
}

/** Returns a random serial number: positive, not zero, at most 20 octets (RFC 5280, 4.1.2.2). */
function serialNumber(): ArrayBuffer {
  const bytes = Uint8Array.from(randomBytes(16));
  bytes[0] = ((bytes[0] as number) & 0x7f) | 0x40;
  return bytes.buffer;
}

function keyIdentifier({ subjectPublicKey }: x509.SubjectPublicKeyInfo): Uint8Array {
  return Uint8Array.from(createHash("sha1").update(Buffer.from(subjectPublicKey)).digest());
}

function commonName(text: string): x509.Name {
  const value = new x509.AttributeValue({ utf8String: text });
  return new x509.Name([
    new x509.RelativeDistinguishedName([new x509.AttributeTypeAndValue({ type: COMMON_NAME, value })]),
  ]);
}

function alternative(name: string): x509.GeneralName {
  return new x509.GeneralName(isIP(name) === 0 ? { dNSName: name } : { iPAddress: name });
}

function extension(extnID: string, value: object, critical = false): x509.Extension {
  return new x509.Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

function pem(label: string, der: Buffer): string {
  const body = der.toString("base64").replaceAll(/.{64}(?=.)/g, "$&\n");
  return `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`;
}

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import packageJson from "../../package.json";
import { commands, setImage, trustWorkflow } from "./page.ts";
import { startPublisher } from "./publisher.ts";
import { makeRelease } from "./stand-in.ts";

// A release that a workflow has signed, verified by the page's commands. A CA of ours stands in for Fulcio, which gives a
// workflow its certificate; it has no log of certificates, and there is no log of signatures.

setDefaultTimeout(120_000);

const { version } = packageJson;
const publisher = await startPublisher();
const { path, name, mustRun } = publisher;
const released = join(path, "released");
afterAll(() => publisher[Symbol.asyncDispose]());

const issuer = "https://token.actions.githubusercontent.com";
const identity = `https://github.com/OWNER/ebb/.github/workflows/release.yml@refs/tags/v${version}`;

/** A certificate as Fulcio gives it: its name is who signs, its last extension who says so (sigstore-go, OIDIssuerV2). */
const extensions = [
  "keyUsage=critical,digitalSignature",
  "extendedKeyUsage=codeSigning",
  `subjectAltName=critical,URI:${identity}`,
  `1.3.6.1.4.1.57264.1.8=ASN1:UTF8String:${issuer}`,
];

const rootOf = (authority: string): string => `${authority}-root.json`;

/** Runs a command of the page, as somebody who trusts a workflow and a CA. */
function verify(command: string, { trust = trustWorkflow, authority = "ours" } = {}) {
  const noLogs = "COSIGN_INSECURE_IGNORE_SCT=true COSIGN_INSECURE_IGNORE_TLOG=true";
  const differing = `export COSIGN_TRUSTED_ROOT=${join(path, rootOf(authority))} ${noLogs}`;
  return publisher.run(`${trust}; ${differing}; ${setImage}; ${command}`, released);
}

beforeAll(async () => {
  for (const authority of ["ours", "theirs"]) {
    const subject = `-subj /O=${authority} -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign`;
    const key = `-newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -keyout ${authority}-ca.key`;
    await mustRun(`openssl req -x509 ${key} -days 1 ${subject} -out ${authority}-ca.pem`);
    const fulcio = `url=https://fulcio.example.com,certificate-chain=${authority}-ca.pem`;
    await mustRun(`cosign trusted-root create --fulcio ${fulcio} --out ${rootOf(authority)}`);
  }
  await Bun.write(join(path, "extensions"), extensions.join("\n"));
  await mustRun(
    "openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -keyout job.pem -subj / -out job.csr",
  );
  const authority = "-CA ours-ca.pem -CAkey ours-ca.key -CAcreateserial";
  await mustRun(`openssl x509 -req -in job.csr ${authority} -days 1 -extfile extensions -out job.crt`);
  await mustRun("cosign import-key-pair --yes --key job.pem --output-key-prefix job");
  makeRelease(released, `${name}:${version}`);
  await publisher.push(released, "COSIGN_KEY=job.key COSIGN_CERTIFICATE=job.crt");
});

test.each(commands)("%s", async (command) => {
  const { code, stderr } = await verify(command);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining("Error") });
});

const signed = commands.filter((command) => command.startsWith("cosign"));

test.each([
  ["another tag's workflow", `@refs/tags/v${version}`, "@refs/tags/v7.7.7"],
  ["another workflow", "release.yml", "ci.yml"],
  ["another repository's workflow", "OWNER", "THEIRS"],
  ["the same name by another issuer", issuer, "https://issuer.example.com"],
])("nothing verifies as signed by %s", async (_, from, to) => {
  expect(trustWorkflow).toContain(from);
  for (const command of signed) {
    const { code, stderr } = await verify(command, { trust: trustWorkflow.replaceAll(from, to) });
    expect([command, code, stderr]).toEqual([
      command,
      1,
      expect.stringContaining("no matching CertificateIdentity found"),
    ]);
  }
});

test("nothing verifies by the certificate of another CA", async () => {
  for (const command of signed) {
    const { code, stderr } = await verify(command, { authority: "theirs" });
    expect([command, code, stderr]).toEqual([command, 1, expect.stringContaining("certificate")]);
  }
});

import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { ebb, temporaryFolder } from "../../harness/ebb.ts";

setDefaultTimeout(20_000);

/** A certificate of localhost that signs itself. */
const pem = join(import.meta.dirname, "../../fixtures/localhost.pem");
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  tls: { cert: readFileSync(pem), key: readFileSync(pem) },
  fetch: () => new Response(),
});
const url = `https://localhost:${server.port}/`;
const folder = temporaryFolder();
const otherCa = join(folder.path, "ca.pem");
writeFileSync(otherCa, rootCertificates[0] as string);
afterAll(() => {
  void server.stop(true);
  folder[Symbol.dispose]();
});

const none = ["--sidecar", "none"];
const calls: Readonly<Record<string, (limit: string) => readonly string[]>> = {
  run: (limit) => [...none, "--quiet", "--wait-timeout", limit, "--ready", url, "--", "true"],
  wait: (limit) => [...none, "--wait-timeout", limit, url],
  request: () => [url],
  quit: (limit) => [...none, "--quit-timeout", limit, "--quit", url],
};

describe.each(Object.entries(calls))("ebb %s", (command, within) => {
  test("trusts a server that signs its own certificate by --ca-file alone", async () => {
    expect((await ebb([command, ...within("200ms")])).code).toBe(69);
    expect((await ebb([command, "--ca-file", otherCa, ...within("200ms")])).code).toBe(69);
    expect((await ebb([command, "--ca-file", pem, ...within("20s")])).code).toBe(0);
    expect((await ebb([command, ...within("20s")], { env: { EBB_CA_FILE: pem } })).code).toBe(0);
  });
});

test("ebb status asks an admin interface by --ca-file", async () => {
  const flags = ["--json", "--sidecar", "envoy", "--admin", url, "--ready", url];
  const isReady = async (more: readonly string[]) =>
    JSON.parse((await ebb(["status", ...flags, ...more])).stdout).sidecars[0].ready;
  expect([await isReady([]), await isReady(["--ca-file", pem])]).toEqual([false, true]);
});

test("a wait says what to do about a certificate that it does not trust", async () => {
  const { stderr } = await ebb(["wait", ...none, "--wait-timeout", "2s", url]);
  expect(stderr).toContain("its certificate is self-signed (if it is the right server, set --ca-file");
});

test("the public CAs, and those of variables, are trusted beside the file's", async () => {
  for (const variable of ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"])
    expect((await ebb(["request", "--ca-file", otherCa, url], { env: { [variable]: pem } })).code).toBe(0);
});

test("the name of the certificate must be right all the same", async () => {
  await using elsewhere = Bun.serve({
    hostname: "127.0.0.2",
    port: 0,
    tls: { cert: readFileSync(pem), key: readFileSync(pem) },
    fetch: () => new Response(),
  });
  const { code, stderr } = await ebb(["request", "--ca-file", pem, elsewhere.url.href]);
  expect({ code, stderr }).toEqual({ code: 69, stderr: expect.stringContaining("for another host name") });
});

test("the app inherits nothing of the CA file", async () => {
  const { stdout } = await ebb(["run", "--quiet", "--ca-file", pem, "--ready", url, ...none, "--", "env"]);
  expect(stdout).not.toContain("pem");
});

describe("a file that cannot be used is named at the start:", () => {
  test.each([
    ["/nowhere/ca.pem", "no such file or directory"],
    ["/", "is a directory"],
    ["/etc/hostname", "its first certificate cannot be read, or it has none"],
  ])("%s", async (path, reason) => {
    const all: typeof calls = { ...calls, drain: (limit) => [...none, "--drain", limit], status: () => [] };
    for (const [command, within] of Object.entries(all)) {
      const { code, stderr } = await ebb([command, "--ca-file", path, ...within("1s")]);
      expect([command, code]).toEqual([command, 64]);
      expect(stderr).toContain(`--ca-file: expected a file with certificates in PEM, got ${path}: ${reason}`);
    }
  });
});

import { describe, expect, test } from "bun:test";
import type { PeerCertificate } from "node:tls";
import { until } from "../../../harness/ebb.ts";
import { nonEmpty, openRaw, said, startWebhook, type Webhook } from "./webhook.ts";

describe("TLS", () => {
  test("of 1.2 and 1.3 is spoken, older is not", async () => {
    await using webhook = await startWebhook();
    const speak = async (version: string) => {
      using raw = await openRaw(webhook.port, webhook.mounted.ca, { minVersion: version, maxVersion: version });
      return raw.socket.getProtocol();
    };
    expect([await speak("TLSv1.2"), await speak("TLSv1.3")]).toEqual(["TLSv1.2", "TLSv1.3"]);
    for (const version of ["TLSv1", "TLSv1.1"]) await expect(speak(version)).rejects.toThrow(/version|VERSION/);
  });

  test("takes ciphers with forward secrecy alone", async () => {
    await using webhook = await startWebhook();
    const speak = async (ciphers: string) => {
      const more = { ciphers, minVersion: "TLSv1.2", maxVersion: "TLSv1.2" };
      using raw = await openRaw(webhook.port, webhook.mounted.ca, more);
      return raw.socket.getCipher().name;
    };
    expect(await speak("ECDHE-ECDSA-AES128-GCM-SHA256")).toBe("ECDHE-ECDSA-AES128-GCM-SHA256");
    for (const old of ["AES128-SHA", "AES128-GCM-SHA256", "DES-CBC3-SHA"]) await expect(speak(old)).rejects.toThrow();
  });

  test("offers HTTP/1.1 to a client that would speak HTTP/2", async () => {
    await using webhook = await startWebhook();
    using raw = await openRaw(webhook.port, webhook.mounted.ca, { ALPNProtocols: ["h2", "http/1.1"] });
    expect(raw.socket.alpnProtocol).not.toBe("h2");
    raw.send("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await until("it is answered", () => raw.text().startsWith("HTTP/1.1 404 "), 30_000);
  });
});

describe("a certificate that is replaced", () => {
  test("is served without a restart, and no request fails meanwhile", async () => {
    await using webhook = await startWebhook();
    let isOver = false;
    const load = Promise.all([
      ...[true, true, true].map((keepalive) => askOnAndOn(webhook, keepalive, () => isOver)),
      ...[false, false].map((keepalive) => askOnAndOn(webhook, keepalive, () => isOver)),
    ]);
    const seen = new Set([await serialOf(webhook)]);
    for (let count = 1; count <= 3; count += 1) {
      webhook.mounted.renew();
      await until(
        "another one is served",
        () => said(webhook, "serving with a new certificate").length === count,
        60_000,
      );
      seen.add(await serialOf(webhook));
      expect(seen.size).toBe(count + 1);
    }
    isOver = true;
    const counts = await load;
    expect(counts.every((count) => count > 0)).toBe(true);
  }, 120_000);

  test("that is broken is not taken: the one before goes on, until there is a whole one", async () => {
    await using webhook = await startWebhook();
    const before = await serialOf(webhook);
    webhook.mounted.spoil();
    await until("it is said", () => nonEmpty(said(webhook, "cannot use the certificate")), 60_000);
    expect([await serialOf(webhook), (await webhook.ask()).status]).toEqual([before, 200]);
    webhook.mounted.renew();
    await until("another one is served", () => nonEmpty(said(webhook, "serving with a new certificate")), 60_000);
    expect(await serialOf(webhook)).not.toBe(before);
  }, 120_000);
});

/** How many were answered. @throws when one is not */
async function askOnAndOn(webhook: Webhook, keepalive: boolean, isOver: () => boolean): Promise<number> {
  let count = 0;
  for (; !isOver(); count += 1) {
    const answer = await webhook.ask({}, { keepalive });
    if (answer.status !== 200 || !(await answer.text()).includes('"patch":')) throw new Error(`${answer.status}`);
  }
  return count;
}

async function serialOf(webhook: Webhook): Promise<string> {
  using raw = await webhook.open();
  return (raw.socket.getPeerCertificate() as PeerCertificate).serialNumber;
}

import { findApiServer } from "../../../src/cluster/api/client.ts";
import { watchCertificates } from "../../../src/cluster/certificates/certificates.ts";
import { createLog } from "../../../src/shared/output/log.ts";

// The certificates of a webhook's replica: prints each that the replica would serve. The settings are the only
// argument, JSON.

const log = createLog({ logLevel: "debug", logFormat: "json", quiet: false }, {});
const stop = new AbortController();
process.on("SIGTERM", () => stop.abort());
const { kubeconfig, ...settings } = JSON.parse(process.argv[2] as string);
const api = await findApiServer({ env: process.env, kubeconfig }, log);
for await (const news of watchCertificates({ kind: "own", api, ...settings }, { log, signal: stop.signal })) {
  if ("cert" in news) process.stdout.write(`${JSON.stringify(news)}\n`);
}

import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { digestOf } from "../../build/evidence/sums.ts";
import { user } from "../image/token-server.ts";

const types = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
};

/** The repository of a registry, and the two digests in it. */
interface Attachment {
  /** `https://HOST:PORT/v2/NAME`. */
  readonly repository: string;
  /** The file with the registry's CA. */
  readonly ca: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Makes the statements about the image `from` refer to the image `to`, too. The registry has no referrers API, so that
 * they are in an index with a tag of the image's digest (distribution-spec 1.1, "Referrers Tag Schema").
 */
export async function attachStatements({ repository, ca, from, to }: Attachment): Promise<void> {
  const tls = { ca: readFileSync(ca, "utf8") };
  const authorization = `Basic ${Buffer.from(`${user.name}:${user.password}`).toString("base64")}`;
  const ask = (
    reference: string,
    { headers, ...init }: { method?: string; body?: Uint8Array<ArrayBuffer>; headers: object },
  ) => fetch(`${repository}/manifests/${reference}`, { ...init, headers: { ...headers, authorization }, tls });
  const get = async <Content>(reference: string, accept: string) =>
    (await (await ask(reference, { headers: { accept } })).json()) as Content;
  const put = async (reference: string, type: string, content: object): Promise<Uint8Array> => {
    const body = new TextEncoder().encode(JSON.stringify(content));
    expect((await ask(reference, { method: "PUT", headers: { "content-type": type }, body })).status).toBe(201);
    return body;
  };
  const index = await get<{ manifests: { digest: string }[] }>(tagOf(from), types.index);
  const manifests = [];
  for (const descriptor of index.manifests) {
    const manifest = await get<{ subject: object }>(descriptor.digest, types.manifest);
    const changed = { ...manifest, subject: { ...manifest.subject, digest: to } };
    const digest = `sha256:${digestOf(new TextEncoder().encode(JSON.stringify(changed)))}`;
    const { length: size } = await put(digest, types.manifest, changed);
    manifests.push({ ...descriptor, digest, size });
  }
  await put(tagOf(to), types.index, { ...index, manifests });
}

function tagOf(digest: string): string {
  return digest.replace(":", "-");
}

import { createHash } from "node:crypto";
import type { KeyPair } from "../../../../src/cluster/certificates/held.ts";
import { issueAuthority, issueServing } from "../../../../src/cluster/certificates/issue.ts";

/** Returns the digest of a text. */
export function digestOf(text: string, algorithm = "sha256"): string {
  return `${algorithm}:${createHash(algorithm).update(text).digest("hex")}`;
}

/** An image for one platform, by what its config says. */
interface StandInImage {
  readonly platform?: string;
  readonly config?: object;
  /** The number of its layers. */
  readonly layers?: number;
}

/** What a registry has: manifests and blobs by `REPOSITORY/NAME`, where NAME is a tag or a digest. */
export class Content {
  readonly manifests = new Map<string, string>();
  readonly blobs = new Map<string, string>();

  /** Adds an image under `REPOSITORY:TAG`: an index if there are several platforms. Returns its digest. */
  add(name: string, ...images: readonly StandInImage[]): string {
    const [repository = "", tag = ""] = name.split(":");
    const made = images.map((image) => this.#addImage(repository, image));
    const [first, ...others] = made;
    const top =
      first !== undefined && others.length === 0
        ? first.manifest
        : JSON.stringify({
            schemaVersion: 2,
            mediaType: "application/vnd.oci.image.index.v1+json",
            manifests: made.map(({ manifest, platform }) => ({
              mediaType: "application/vnd.oci.image.manifest.v1+json",
              digest: digestOf(manifest),
              size: manifest.length,
              platform,
            })),
          });
    return this.put(repository, tag, top);
  }

  /** Adds a manifest as it is. Returns its digest. */
  put(repository: string, tag: string, manifest: string): string {
    const digest = digestOf(manifest);
    this.manifests.set(`${repository}/${tag}`, manifest);
    for (const algorithm of ["sha256", "sha512"])
      this.manifests.set(`${repository}/${digestOf(manifest, algorithm)}`, manifest);
    return digest;
  }

  #addImage(repository: string, { platform = "linux/amd64", config = {}, layers = 1 }: StandInImage) {
    const [os, architecture, variant] = platform.split("/");
    const blob = JSON.stringify({ os, architecture, variant, config });
    this.blobs.set(`${repository}/${digestOf(blob)}`, blob);
    const descriptor = (mediaType: string, text: string) => ({ mediaType, digest: digestOf(text), size: text.length });
    const manifest = JSON.stringify({
      schemaVersion: 2,
      config: descriptor("application/vnd.oci.image.config.v1+json", blob),
      layers: Array.from({ length: layers }, (_, n) => descriptor("application/vnd.oci.image.layer.v1.tar", `${n}`)),
    });
    this.put(repository, "", manifest);
    return { manifest, platform: { os, architecture, ...(variant && { variant }) } };
  }
}

/** A request that a registry has got. */
export interface Got {
  /** `GET /v2/app/manifests/latest`, with its query. */
  readonly line: string;
  readonly authorization: string | undefined;
  readonly request: Request;
}

/** What a registry answers in place of what it has; undefined: what it has. */
export type Behaviour = (got: Got, registry: StandInRegistry) => Response | Promise<Response> | undefined;

export interface StandInRegistry extends AsyncDisposable {
  /** `localhost:PORT` */
  readonly host: string;
  readonly content: Content;
  /** All requests so far. */
  readonly got: readonly Got[];
  /** The lines of all requests so far, which it forgets then. */
  take(): readonly string[];
}

const authority = issueAuthority({ fromMs: Date.now() - 60_000, untilMs: Date.now() + 86_400_000 });
const serving = issueServing(
  ["localhost", "registry.example.com"],
  { fromMs: Date.now() - 60_000, untilMs: Date.now() + 86_400_000 },
  authority,
);
/** The CA of all stand-ins, in PEM. */
export const caPem = authority.cert;

/** Where a registry listens, and by which certificate. */
interface StandInPlace {
  readonly address: string;
  /** The host by which its clients call it. */
  readonly host: string;
  readonly serving: KeyPair;
}

const here: StandInPlace = { address: "127.0.0.1", host: "localhost", serving };
/** With a certificate that has expired. */
export const expired: StandInPlace = {
  ...here,
  serving: issueServing(["localhost"], { fromMs: Date.now() - 60_000, untilMs: Date.now() - 10_000 }, authority),
};

/** Starts a registry (OCI distribution-spec 1.1, pulling only) with TLS on a free port. */
export function startStandIn(
  content = new Content(),
  behave: Behaviour = () => undefined,
  { address, host, serving: { cert, key } } = here,
): StandInRegistry {
  const got: Got[] = [];
  let taken = 0;
  const server = Bun.serve({
    port: 0,
    hostname: address,
    idleTimeout: 0,
    tls: { cert, key },
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const line = `${request.method} ${pathname}${search}`;
      const asked = { line, authorization: request.headers.get("authorization") ?? undefined, request };
      got.push(asked);
      return (await behave(asked, registry)) ?? answerOf(content, request, pathname);
    },
  });
  const registry: StandInRegistry = {
    host: `${host}:${server.port}`,
    content,
    got,
    take() {
      const lines = got.slice(taken).map(({ line }) => line);
      taken = got.length;
      return lines;
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return registry;
}

function answerOf({ manifests, blobs }: Content, request: Request, path: string): Response {
  const [, repository = "", kind = "", name = ""] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(path) ?? [];
  const found = (kind === "manifests" ? manifests : blobs).get(`${repository}/${name}`);
  if (found === undefined) return refusal(404, kind === "blobs" ? "BLOB_UNKNOWN" : "MANIFEST_UNKNOWN", "unknown");
  const headers = { "docker-content-digest": digestOf(found), "content-type": "application/json" };
  return new Response(request.method === "HEAD" ? null : found, { headers });
}

/** A refusal as the specification has it. */
export function refusal(status: number, code: string, message: string, headers = {}): Response {
  return Response.json({ errors: [{ code, message }] }, { status, headers });
}

/** Wants a token, which is to be had at `realm`, for whoever asks without one. */
export function wantsToken(realm: string, rest = ""): Response {
  return refusal(401, "UNAUTHORIZED", "authentication required", {
    "www-authenticate": `Bearer realm="${realm}",service="stand-in"${rest}`,
  });
}

import { DOCKER_HUB, isRegistryHost, type Reference, registryName } from "./reference.ts";

/** A registry, and where its images are asked for first. */
export interface Mirror {
  /** `docker.io`, `registry.example.com:5000`. */
  readonly from: string;
  readonly to: Pick<Source, "origin" | "host"> & { readonly path: string };
}

/** Where an image may be asked for. */
export interface Source {
  /** `https://registry-1.docker.io`. */
  readonly origin: string;
  /** The registry as `--registries` and credentials name it: `docker.io`, `mirror.example.com`. */
  readonly host: string;
  /** The repository there. */
  readonly repository: string;
  /** The registry that it mirrors; undefined if it is that itself. */
  readonly mirrors: string | undefined;
  /** Whether it is asked only if the one before it cannot be reached. */
  readonly isFallback: boolean;
}

/** Parses `FROM=TO` of --registry-mirror. Returns undefined if it is wrong. */
export function parseMirror(text: string): Mirror | undefined {
  const [, from = "", scheme = "https://", host = "", path = ""] =
    /^([^=/]+)=(https?:\/\/)?([^/]+)((?:\/[^/\s?#]+)*)\/?$/.exec(text) ?? [];
  if (!isRegistryHost(from) || !isRegistryHost(host)) return undefined;
  const named = host.toLowerCase();
  return { from: registryName(from), to: { origin: originOf(scheme, named), host: named, path: path.slice(1) } };
}

/** What decides where an image is asked for. */
export interface SourcePolicy {
  readonly registries: "all" | readonly string[];
  readonly registryMirror: readonly Mirror[];
}

/**
 * Returns where to ask for an image, in order: the mirrors of its registry as `--registry-mirror` lists them, then that
 * itself if it is allowed. Returns none if nothing is allowed.
 */
export function sourcesOf(
  { host: written, repository }: Reference,
  { registries, registryMirror }: SourcePolicy,
): readonly Source[] {
  const host = registryName(written);
  const mirrors = registryMirror.filter(({ from }) => from === host);
  const mirrored = mirrors.map(({ to }): Source => {
    const path = to.path === "" ? repository : `${to.path}/${repository}`;
    return { origin: to.origin, host: to.host, repository: path, mirrors: host, isFallback: false };
  });
  const isMirrorOfItself = mirrors.some(({ to }) => to.host === host && to.path === ""); // named so to have no TLS
  if (isMirrorOfItself || (registries !== "all" && !registries.includes(host))) return mirrored;
  const own: Source = { origin: originOf("https://", host), host, repository, mirrors: undefined, isFallback: false };
  // as Docker and containerd: a registry of this machine's may have no TLS
  const plain = isLocalhost(host) ? [{ ...own, origin: originOf("http://", host), isFallback: true }] : [];
  return [...mirrored, own, ...plain];
}

/** Reports whether an option names a registry's host, so that a redirect or a token may lead there. */
export function isListed(host: string, { registries, registryMirror }: SourcePolicy): boolean {
  return (
    (registries !== "all" && registries.includes(registryName(host))) ||
    registryMirror.some(({ to }) => to.host === host)
  );
}

function isLocalhost(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/.test(host);
}

/** Returns the origin of a registry's server, as URLs have it: Docker Hub's has another name. */
function originOf(scheme: string, host: string): string {
  return new URL(scheme + (host === DOCKER_HUB ? "registry-1.docker.io" : host)).origin;
}

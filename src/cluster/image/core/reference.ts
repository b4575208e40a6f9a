// Names of images, as distribution/reference reads them (github.com/distribution/reference: regexp.go, normalize.go).

/** The name of an image, in full. */
export interface Reference {
  /** The registry, in letters as they are written: `docker.io`, `registry.example.com:5000`. */
  readonly host: string;
  /** `library/nginx`, `team/app`. */
  readonly repository: string;
  /** `latest` if neither is named; undefined with a digest, which wins over a tag. */
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

/** Docker Hub, as names of images have it. */
export const DOCKER_HUB = "docker.io";

/** Its other names: the kubelet's default in files of credentials, and that of its server. */
export const hubNames: readonly string[] = ["index.docker.io", "registry-1.docker.io"];

/** Returns the name under which a registry is looked for: in lower case, and `docker.io` for Docker Hub. */
export function registryName(host: string): string {
  const name = host.toLowerCase();
  return hubNames.includes(name) ? DOCKER_HUB : name;
}

const LABEL = "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])";
const HOST = `(?:${LABEL}(?:\\.${LABEL})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]{1,5})?`;
const PART = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
const TAG = "[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}";
/** Those that can be verified; OCI image-spec 1.1, descriptor.md, "Registered algorithms". */
const DIGEST = "sha256:[a-f0-9]{64}|sha512:[a-f0-9]{128}";

const host = new RegExp(`^${HOST}$`);
const digest = new RegExp(`^(?:${DIGEST})$`);
const remainder = new RegExp(`^(${PART}(?:/${PART})*)(?::(${TAG}))?(?:@(${DIGEST}))?$`);
/** The most characters of a repository (distribution/reference, RepositoryNameTotalLengthMax). */
const LONGEST_REPOSITORY = 255;
/** The most of a host: a name of DNS, and a port. */
const LONGEST_HOST = 253 + 6;
/** The most of a name with its host, repository, tag and digest. */
export const LONGEST_IMAGE = LONGEST_HOST + 1 + LONGEST_REPOSITORY + 129 + 136;

/** Parses the name of an image: `nginx` is `docker.io/library/nginx:latest`. Returns undefined if it is none. */
export function parseReference(text: string): Reference | undefined {
  if (/^[a-f0-9]{64}$/.test(text)) return undefined; // an image's ID
  const slash = text.indexOf("/");
  const first = text.slice(0, Math.max(slash, 0));
  const isHost = first === "localhost" || /[.:A-Z]/.test(first);
  const named = isHost ? first : DOCKER_HUB;
  const registry = named === "index.docker.io" ? DOCKER_HUB : named;
  const [, path = "", tag, given] = remainder.exec(isHost ? text.slice(slash + 1) : text) ?? [];
  const repository = registry === DOCKER_HUB && !path.includes("/") ? `library/${path}` : path;
  if (path === "" || repository.length > LONGEST_REPOSITORY || !isRegistryHost(registry)) return undefined;
  return { host: registry, repository, tag: given === undefined ? (tag ?? "latest") : undefined, digest: given };
}

/** Returns `: lower case only`, or what else is often wrong in what is not the name of an image; the empty text for others. */
export function usualFault(text: string): string {
  const fault = faults.find(([isWrong]) => isWrong(text))?.[1];
  return fault === undefined ? "" : `: ${fault}`;
}

const faults: readonly (readonly [isWrong: (text: string) => boolean, string])[] = [
  [(text) => /^https?:\/\//i.test(text), "leave out http:// or https://"],
  [(text) => text.includes("$"), "variables are not expanded"],
  [(text) => Number(/^[^/]*:(\d+)\//.exec(text)?.[1]) > 65_535, "there is no such port"],
  [(text) => /@sha256:(?![a-f0-9]{64}$)/.test(text), "sha256 needs 64 hex digits"],
  [
    (text) =>
      /[A-Z]/.test(
        text
          .slice(text.indexOf("/") + 1)
          .split(/[:@]/, 1)
          .join(),
      ),
    "lower case only",
  ],
];

/** Reports whether a text is `HOST` or `HOST:PORT`; an IPv6 address stands in brackets. */
export function isRegistryHost(text: string): boolean {
  return text.length <= LONGEST_HOST && host.test(text) && URL.canParse(`https://${text}`); // not [1], 1.2.3.4.5 or port 99999
}

/** Reports whether a text is a digest that can be verified: `sha256:...` or `sha512:...`. */
export function isDigest(text: string): boolean {
  return digest.test(text);
}

/** Formats a name in full: `docker.io/library/nginx:latest`, `quay.io/a/b@sha256:...`. */
export function formatReference({ host: registry, repository, tag, digest: given }: Reference): string {
  return `${registry}/${repository}${given === undefined ? `:${tag}` : `@${given}`}`;
}

/** The processors that ebb and an image may be for, as OCI names them. */
export const architectures = ["amd64", "arm64"] as const;
export type Architecture = (typeof architectures)[number];

/** What is asked of a registry: an image, as a manifest names it, on the processors on which its pod may run. */
export interface ImageQuery {
  readonly image: string;
  readonly architectures: readonly Architecture[];
}

/** Returns a text that tells queries apart. */
export function queryKey({ image, architectures }: ImageQuery): string {
  return `${architectures.join()} ${image}`;
}

/** What an image starts by itself: of its config (OCI image-spec 1.1, config.md). */
export interface ImageCommand {
  /** ENTRYPOINT; empty if there is none. */
  readonly entrypoint: readonly string[];
  /** CMD; empty if there is none. */
  readonly cmd: readonly string[];
  /** STOPSIGNAL as the image says it (`SIGQUIT`, `3`); undefined if it says none. */
  readonly stopSignal: string | undefined;
}

/** Why nothing is known of an image. */
export const lookupFailures = [
  "not-allowed", // --registries does not name its registry
  "unauthorized",
  "rate-limited",
  "not-found",
  "untrusted", // a certificate of an unknown CA, or for another name
  "unreachable",
  "timeout",
  "invalid", // not what the OCI specifications say, too big, or not of the digest that was asked for
  "other-platform", // it is for no processor on which the pod may run
  "ambiguous", // it starts one command on amd64, another one on arm64
] as const;
export type LookupFailure = (typeof lookupFailures)[number];

/** The result of a look-up. `reason` tells the pod's author what is wrong, with which value, and what to do. */
export type Lookup =
  | { readonly kind: "found"; readonly command: ImageCommand }
  | { readonly kind: "unknown"; readonly failure: LookupFailure; readonly reason: string };

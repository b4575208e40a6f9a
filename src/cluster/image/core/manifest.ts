import { z } from "zod/mini";
import { hasMoreOutsideStrings } from "../../../shared/core/json.ts";
import { isDigest } from "./reference.ts";

// Manifests and indexes of images: OCI image-spec 1.1 (manifest.md, image-index.md, config.md), and Docker's schema 2
// (distribution, docs/content/spec/manifest-v2-2.md), which has the same fields by other media types.

/** The media types that are asked for. */
export const manifestTypes = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
] as const;

const configTypes: readonly string[] = [
  "application/vnd.oci.image.config.v1+json",
  "application/vnd.docker.container.image.v1+json",
];

/** The most characters of an image's words: the kernel takes as many in one call, and no image needs them. */
const MOST_WORDS = 16 * 1024;

/** What a thousand layers need ten times over; 4 MiB of empty lists would take 100 MB once they are parsed. */
const MOST_OUTSIDE_STRINGS = 400_000;

const digest = z.string().check(z.refine(isDigest));
const descriptor = z.looseObject({ mediaType: z.string(), digest });
const words = z.optional(z.nullable(z.array(z.string())));
const text = z.optional(z.nullable(z.string()));

const manifest = z.looseObject({
  schemaVersion: z.optional(z.unknown()),
  manifests: z.optional(
    z.nullable(
      z.array(
        z.looseObject({
          mediaType: z.string(),
          digest,
          platform: z.optional(z.nullable(z.looseObject({ os: z.string(), architecture: z.string(), variant: text }))),
        }),
      ),
    ),
  ),
  config: z.optional(z.nullable(descriptor)),
});

const config = z.looseObject({
  os: text,
  architecture: text,
  variant: text,
  config: z.optional(
    z.nullable(z.looseObject({ Entrypoint: words, Cmd: words, WorkingDir: text, User: text, StopSignal: text })),
  ),
});

/** The system and processor of an image; an empty text is not known. */
export interface Platform {
  readonly os: string;
  readonly architecture: string;
  readonly variant: string;
}

/** What stands under an image's name. */
export type Manifest =
  | { readonly kind: "index"; readonly entries: readonly { readonly digest: string; readonly platform: Platform }[] }
  | { readonly kind: "image"; readonly configDigest: string };

/** What an image says of the process that it starts. */
export interface ImageConfig {
  readonly platform: Platform;
  readonly entrypoint: readonly string[];
  readonly cmd: readonly string[];
  readonly workingDir: string | undefined;
  readonly user: string | undefined;
  readonly stopSignal: string | undefined;
}

/** The media types of schema 1: its digest leaves out its signatures, so it would seem wrong. */
export const schema1Type = /^application\/vnd\.docker\.distribution\.manifest\.v1\+/;
export const SCHEMA_1 = "it has Docker's schema 1 of 2015, which containerd does not run either: push the image again";

/** Parses a manifest or an index. @throws Error that says what it is instead */
export function parseManifest(body: string): Manifest {
  const { schemaVersion, manifests, config: described } = parsed(manifest, body, "a manifest of an image");
  if (schemaVersion === 1) throw new Error(SCHEMA_1);
  // what is both may mean another image to everybody who reads it (CVE-2021-41190)
  if (manifests && described) throw new Error("it is a manifest and an index at once");
  if (manifests) {
    const entries = manifests.map((each) => ({ digest: each.digest, platform: platformOf(each.platform ?? {}) }));
    return { kind: "index", entries };
  }
  if (!described) throw new Error("expected a manifest of an image, got JSON without a config");
  if (!configTypes.includes(described.mediaType))
    throw new Error(`it is not a container image: its config is ${described.mediaType}`);
  return { kind: "image", configDigest: described.digest };
}

/** Parses an image's config. @throws Error that says what is wrong */
export function parseConfig(body: string): ImageConfig {
  const { config: inner, ...platform } = parsed(config, body, "the config of an image");
  const { Entrypoint, Cmd, WorkingDir, User, StopSignal } = inner ?? {};
  // containerd takes one empty word for none (pkg/cri/opts/spec_opts.go, WithProcessArgs)
  const entrypoint = Entrypoint?.length === 1 && Entrypoint[0] === "" ? [] : (Entrypoint ?? []);
  const cmd = Cmd ?? [];
  const length = [...entrypoint, ...cmd, StopSignal ?? ""].reduce((sum, word) => sum + word.length + 1, 0);
  if (length > MOST_WORDS) throw new Error(`its ENTRYPOINT and CMD have ${length} characters, more than ${MOST_WORDS}`);
  return {
    platform: platformOf(platform),
    entrypoint,
    cmd,
    workingDir: WorkingDir || undefined,
    user: User || undefined,
    stopSignal: StopSignal || undefined,
  };
}

function parsed<S extends z.ZodMiniType>(schema: S, body: string, name: string): z.infer<S> {
  if (hasMoreOutsideStrings(body, MOST_OUTSIDE_STRINGS))
    throw new Error(`${name} has more than ${MOST_OUTSIDE_STRINGS} characters outside of strings`);
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new Error(
      `expected ${name}, got something that is not JSON: check that a registry answers there, not a proxy or a login page`,
    );
  }
  const result = z.safeParse(schema, value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new Error(`expected ${name}, got something else at ${issue?.path.join(".") || "its root"}: ${issue?.message}`);
}

/**
 * Other names of processors, as containerd reads them (github.com/containerd/platforms 07c2124, database.go,
 * normalizeArch).
 */
const otherNames = new Map([
  ["x86_64", "amd64"],
  ["x86-64", "amd64"],
  ["aarch64", "arm64"],
]);

function platformOf(given: {
  readonly os?: string | null | undefined;
  readonly architecture?: string | null | undefined;
  readonly variant?: string | null | undefined;
}): Platform {
  const { os, architecture, variant } = given;
  return {
    os: os ?? "",
    architecture: otherNames.get(architecture ?? "") ?? architecture ?? "",
    variant: variant ?? "",
  };
}

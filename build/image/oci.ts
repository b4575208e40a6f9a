import { digestOf } from "../evidence/sums.ts";
import { gzip, type TarEntry, tarOf } from "./tar.ts";

/** The image of one platform: its files become one layer. */
export type PlatformImage = {
  readonly platform: Platform;
  readonly files: readonly TarEntry[];
};

type Platform = { readonly architecture: string; readonly os: string; readonly variant?: string };

export type ImageInput = {
  /** The image's name once it is loaded: `localhost/ebb:0.1.0`. */
  readonly name: string;
  readonly images: readonly PlatformImage[];
  readonly config: ImageConfig;
  /** Values by keys such as `org.opencontainers.image.title`; they become labels of each image, and annotations. */
  readonly annotations: Readonly<Record<string, string>>;
  /** The time of the files in the layers and of the image, in seconds since 1970. */
  readonly epoch: number;
  readonly compression: keyof typeof compressions;
};

/** How a container of the image starts, as in the image's configuration. */
export type ImageConfig = { readonly User?: string; readonly Entrypoint: readonly string[] };

/**
 * Starts /ebb as the user of distroless's `nonroot`, given as a number, so that Kubernetes can check `runAsNonRoot`.
 */
export const ebbConfig: ImageConfig = { User: "65532:65532", Entrypoint: ["/ebb"] };

/** The platforms of the image, and the executable of each. */
export const knownPlatforms: Readonly<Record<string, { readonly platform: Platform; readonly file: string }>> = {
  "linux/amd64": { platform: { architecture: "amd64", os: "linux" }, file: "ebb-linux-x64" },
  "linux/arm64": { platform: { architecture: "arm64", os: "linux", variant: "v8" }, file: "ebb-linux-arm64" },
};

type Descriptor = { readonly mediaType: string; readonly digest: string; readonly size: number };

const types = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar",
};

/** How layers can be compressed. */
const compressions = {
  gzip: { suffix: "+gzip", compress: gzip },
  zstd: {
    suffix: "+zstd",
    compress: (bytes: Uint8Array): Uint8Array => Bun.zstdCompressSync(bytes as Uint8Array<ArrayBuffer>, { level: 19 }),
  },
  none: { suffix: "", compress: (bytes: Uint8Array): Uint8Array => bytes },
};

/**
 * Returns the files of an OCI image layout (image-spec 1.1), by path: one image for all platforms. The same executables
 * give the same bytes. The top-level index has one entry, the index of the platforms, because podman takes no more than
 * one.
 */
export function ociLayout(input: ImageInput): ReadonlyMap<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const add = (mediaType: string, content: Uint8Array | object): Descriptor => {
    const bytes = content instanceof Uint8Array ? content : json(content);
    const digest = digestOf(bytes);
    files.set(`blobs/sha256/${digest}`, bytes);
    return { mediaType, digest: `sha256:${digest}`, size: bytes.length };
  };
  const { annotations, name } = input;
  const manifests = input.images.map((image) => ({ ...addImage(image, input, add), platform: image.platform }));
  const index = add(types.index, { schemaVersion: 2, mediaType: types.index, manifests, annotations });
  const names = { "io.containerd.image.name": name, "org.opencontainers.image.ref.name": name };
  files.set("oci-layout", json({ imageLayoutVersion: "1.0.0" }));
  files.set(
    "index.json",
    json({ schemaVersion: 2, mediaType: types.index, manifests: [{ ...index, annotations: names }] }),
  );
  return files;
}

/** Adds the layer, configuration and manifest of one platform, and returns the manifest's descriptor. */
function addImage(
  { platform, files }: PlatformImage,
  { annotations, config: { User, Entrypoint }, epoch, compression }: ImageInput,
  add: (mediaType: string, content: Uint8Array | object) => Descriptor,
): Descriptor {
  const tar = tarOf(files, epoch);
  const created = new Date(epoch * 1000).toISOString();
  const config = {
    created,
    ...platform,
    config: { User, Entrypoint, WorkingDir: "/", Labels: annotations },
    rootfs: { type: "layers", diff_ids: [`sha256:${digestOf(tar)}`] },
    history: [{ created, created_by: `COPY ${files.map(({ path }) => path).join(" ")} /` }],
  };
  const { suffix, compress } = compressions[compression];
  return add(types.manifest, {
    schemaVersion: 2,
    mediaType: types.manifest,
    config: add(types.config, config),
    layers: [add(`${types.layer}${suffix}`, compress(tar))],
    annotations,
  });
}

function json(value: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

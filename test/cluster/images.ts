import { readFileSync } from "node:fs";
import { join } from "node:path";
import { digestOf } from "../../build/evidence/sums.ts";
import { ebbConfig, type ImageConfig, ociLayout } from "../../build/image/oci.ts";
import { type TarEntry, tarOf } from "../../build/image/tar.ts";
import { envoyMissing, envoyPath } from "../../build/setup/envoy.mjs";
import { debianNames } from "../../build/setup/packages.mjs";
import { childPath, compiled } from "../harness/compiled.ts";
import { ebbPath } from "../harness/ebb.ts";
import type { Content } from "./content.ts";
import { istiod, istioProxy } from "./istio/images.ts";
import { librariesOf, missing } from "./libraries.ts";

/** The contents of the images that the tests' containers have. */
const contents = {
  /** The image of ebb, with /ebb as entrypoint. */
  ebb: () => ({ files: { ebb: ebbPath }, config: ebbConfig }),
  /** An app that knows nothing of ebb, test/fixtures/child.c, with /child as entrypoint. */
  app: () => ({ files: { child: childPath() }, config: { Entrypoint: ["/child"] } }),
  /** The same app, with /ebb as entrypoint. */
  appInEbb: () => ({ files: { ebb: ebbPath, child: childPath() }, config: ebbConfig }),
  /** A real Envoy, /envoy, and no other program. */
  envoy,
  /** Bun, /bun, for programs in TypeScript that come in a ConfigMap. */
  bun,
  /** The same two, each with /ebb. */
  /** Debian's static busybox, as the image of that name has it: by the names of those of its programs that are used. */
  busybox: () => {
    const programs = ["busybox", "sh", "sleep", "wget"].map((name) => [`bin/${name}`, "/bin/busybox"]);
    return { files: Object.fromEntries(programs), config: { Entrypoint: ["/bin/sh"] } };
  },
  envoyAndEbb: () => withEbb(envoy()),
  bunAndEbb: () => withEbb(bun()),
  /** istiod, and the proxy that Istio's injector puts into pods. */
  istiod,
  istioProxy,
} satisfies Record<string, () => Content>;

/** The names of the images in a cluster; the tag of each is a digest of its content. */
export type ImageReferences = Readonly<Record<keyof typeof contents, string>>;

export interface Image {
  /** The image's name: `localhost/ebb-test/app:0123456789abcdef`. */
  readonly reference: string;
  /** Makes a tar archive of an OCI image layout. */
  readonly archive: () => Uint8Array;
}

/** Contents of images by name, for tests that need more than these. */
export type MoreContents = Readonly<Record<string, () => Content>>;

/** Makes the images of the tests, with these too. @throws Error if Envoy is not installed */
export function testImages(more: MoreContents = {}): Readonly<Record<string, Image>> {
  const images = Object.entries({ ...contents, ...more }).map(([name, content]) => [name, imageOf(name, content())]);
  return Object.fromEntries(images);
}

/** Returns the names of these images. */
export function referencesOf(images: ReturnType<typeof testImages>): ImageReferences {
  return Object.fromEntries(
    Object.entries(images).map(([name, { reference }]) => [name, reference]),
  ) as ImageReferences;
}

/** Makes the image of the sandbox that every pod has, for a cluster that is started here. */
export function pauseImage(): Image {
  const pause = compiled(join(import.meta.dirname, "pause.c"));
  return imageOf("pause", { files: { pause }, config: { Entrypoint: ["/pause"] } });
}

function envoy(): Content {
  return dynamic(envoyPath() ?? missing(envoyMissing), "envoy");
}

function bun(): Content {
  return dynamic(process.execPath, "bun");
}

/** Returns a program with this machine's libraries to which it is linked. */
function dynamic(path: string, name: string): Content {
  return { files: { [name]: path, ...librariesOf(path) }, config: { Entrypoint: [`/${name}`] } };
}

function withEbb({ files, config }: Content): Content {
  return { files: { ...files, ebb: ebbPath }, config };
}

function imageOf(name: string, { files, config }: Content): Image {
  const entries = Object.entries(files).map(([path, source]) => ({ path, mode: 0o755, bytes: bytesOf(source) }));
  const inside = [...entries.map(({ path, bytes }) => [path, digestOf(bytes)]), config];
  const tag = digestOf(new TextEncoder().encode(JSON.stringify(inside))).slice(0, 16);
  const reference = `localhost/ebb-test/${name.toLowerCase()}:${tag}`;
  return { reference, archive: () => archiveOf(reference, entries, config) };
}

function archiveOf(name: string, files: readonly TarEntry[], config: ImageConfig): Uint8Array {
  const platform = { architecture: debianNames[process.arch] ?? process.arch, os: "linux" };
  const images = [{ platform, files }];
  const layout = ociLayout({ name, images, config, annotations: {}, epoch: 0, compression: "none" });
  return tarOf(
    [...layout].map(([path, bytes]) => ({ path, mode: 0o644, bytes })),
    0,
  );
}

function bytesOf(path: string): Uint8Array {
  return new Uint8Array(readFileSync(path));
}

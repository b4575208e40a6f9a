import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RegistryAuths } from "../../../../src/cluster/image/core/auths.ts";
import { type Architecture, architectures, type Lookup } from "../../../../src/cluster/image/core/lookup.ts";
import type { RegistrySettings } from "../../../../src/cluster/image/core/registry-options.ts";
import { type Mirror, parseMirror } from "../../../../src/cluster/image/core/sources.ts";
import { createImageCache, type ImageCache } from "../../../../src/cluster/image/image-cache.ts";
import type { ImageContext } from "../../../../src/cluster/image/reader.ts";
import { temporaryFolder } from "../../../harness/ebb.ts";
import { collectLog } from "../collect-log.ts";
import { caPem } from "./stand-in-registry.ts";

/** How long a test waits for an answer that comes. */
const WAIT_MS = 20_000;

interface AskedHow extends Partial<Omit<RegistrySettings, "registryMirror">>, Partial<ImageContext> {
  /** As in --registry-mirror. */
  readonly mirrors?: readonly string[];
  /** The limit of a look-up; by default no test waits so long. */
  readonly limitMs?: number;
}

/** Creates what remembers images. It trusts the stand-ins' CA. */
export function createAsking(how: AskedHow = {}) {
  const folder = temporaryFolder();
  const caFile = join(folder.path, "ca.pem");
  writeFileSync(caFile, caPem);
  const { mirrors = [], limitMs = WAIT_MS, ...rest } = how;
  const settings = {
    registries: "all" as const,
    caFile,
    registryConfig: undefined,
    ...rest,
    registryMirror: mirrors.map((text) => parseMirror(text) as Mirror),
  };
  const log = collectLog();
  let now = 1000;
  const images = createImageCache(settings, { env: {}, log, isAtDesk: false, ...rest }, () => now);
  return {
    images,
    limitMs,
    log,
    /** Moves the clock of the memory, which stands still otherwise, by that and a moment: what is just so old still counts. */
    move(ms: number) {
      now += ms + 0.1;
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

/** Looks an image up. */
export function find(
  { images, limitMs }: { readonly images: ImageCache; readonly limitMs: number },
  image: string,
  auths: readonly RegistryAuths[] = [],
  on: readonly Architecture[] = architectures,
): Promise<Lookup> {
  return images.find({ image, architectures: on }, auths, limitMs);
}

/** Looks an image up once. */
export async function findOnce(
  image: string,
  how: AskedHow = {},
  auths: readonly RegistryAuths[] = [],
): Promise<Lookup> {
  using asking = createAsking(how);
  return await find(asking, image, auths);
}

/** The credentials of one registry. */
export function authOf(host: string, username: string, password: string, identityToken?: string): RegistryAuths {
  return new Map([[host, { username, password, identityToken }]]);
}

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RegistrySettings } from "../../../src/core/cli/cluster/registry-options.ts";
import type { RegistryAuths } from "../../../src/core/image/auths.ts";
import { type Architecture, architectures, type Lookup } from "../../../src/core/image/lookup.ts";
import { type Mirror, parseMirror } from "../../../src/core/image/sources.ts";
import { createImages, type Images } from "../../../src/kube/image/images.ts";
import type { ImageContext } from "../../../src/kube/image/reader.ts";
import { temporaryFolder } from "../../harness.ts";
import { collectLog } from "../collect-log.ts";
import { caPem } from "./stand-in-registry.ts";

/** How long a test waits for an answer that comes. */
export const WAIT_MS = 20_000;

export interface AskedHow extends Partial<Omit<RegistrySettings, "registryMirror">>, Partial<ImageContext> {
  /** As in --registry-mirror. */
  readonly mirrors?: readonly string[];
}

/** A clock that stands still until it is moved. */
export function stoppedClock() {
  let now = 1000;
  const calls: { readonly at: number; readonly call: () => void }[] = [];
  return {
    now: () => now,
    after(ms: number, call: () => void) {
      calls.push({ at: now + ms, call });
    },
    /** Reports whether a call is due later. */
    isWaiting: () => calls.length > 0,
    /** Moves on, and makes the calls that are due. */
    move(ms: number) {
      now += ms;
      for (const due of calls.splice(0).filter((each) => each.at <= now || !calls.push(each))) due.call();
    },
  };
}

/** Creates what remembers images, with its clock. It trusts the stand-ins' CA. */
export function createAsking(how: AskedHow = {}) {
  const folder = temporaryFolder();
  const registryCa = join(folder.path, "ca.pem");
  writeFileSync(registryCa, caPem);
  const { mirrors = [], ...rest } = how;
  const settings = {
    registries: "all" as const,
    registryCa,
    registryConfig: undefined,
    ...rest,
    registryMirror: mirrors.map((text) => parseMirror(text) as Mirror),
  };
  const log = collectLog();
  const clock = stoppedClock();
  const images = createImages(settings, { env: {}, log, isAtDesk: false, ...rest }, clock);
  return { images, clock, log, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

/** Looks an image up. */
export function find(
  { images }: { readonly images: Images },
  image: string,
  auths: readonly RegistryAuths[] = [],
  on: readonly Architecture[] = architectures,
): Promise<Lookup> {
  return images.find({ image, architectures: on }, auths, WAIT_MS);
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

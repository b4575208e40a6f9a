import { boundedReason } from "./failure.ts";
import { type Architecture, architectures, type ImageQuery, type Lookup, type LookupFailure } from "./lookup.ts";
import type { ImageConfig, Manifest, Platform } from "./manifest.ts";

/** What stands under the name of an image for several platforms. */
export type Index = Extract<Manifest, { readonly kind: "index" }>;

/**
 * Chooses what an index has for a processor: an entry for that, else the first one that names no platform, as containerd
 * does (v2.3.4, core/images/image.go:218-240, Manifest; read). Either may be another index.
 */
export function chooseEntry({ entries }: Index, architecture: Architecture): Index["entries"][number] | undefined {
  const fitting = entries.filter(({ platform }) => platform.os === "linux" && platform.architecture === architecture);
  // the one for every such processor, as containerd prefers it (github.com/containerd/platforms, compare.go)
  const general = fitting.find(({ platform }) => ["", "v1", "v8"].includes(platform.variant));
  return general ?? fitting[0] ?? entries.find(({ platform }) => platform.os === "");
}

/** An image as its registry describes it. */
export interface ImageReport {
  /** The digest of what the image's name means: of its index, if there is one. */
  readonly digest: string;
  /** All platforms that it is for. */
  readonly platforms: readonly Platform[];
  /** The configs for the processors that were asked for, in their order. */
  readonly configs: readonly ImageConfig[];
}

/** Decides what an image starts on the processors that are asked for: what all its configs agree on. */
export function commandOf(query: ImageQuery, { platforms, configs }: ImageReport): Lookup {
  const { image } = query;
  const [first, ...others] = configs;
  if (first === undefined) return unknown("other-platform", `${image} ${mismatch(platforms, query.architectures)}`);
  const other = others.find((each) => commandText(each) !== commandText(first));
  if (other !== undefined) {
    const both = [first, other].map((each) => `${commandText(each)} on ${each.platform.architecture}`).join(", ");
    return unknown(
      "ambiguous",
      `${image} starts ${both}: name one of them, or one architecture in the pod's nodeSelector`,
    );
  }
  const { entrypoint, cmd } = first;
  const isAgreed = others.every(({ stopSignal }) => stopSignal === first.stopSignal);
  return { kind: "found", command: { entrypoint, cmd, stopSignal: isAgreed ? first.stopSignal : undefined } };
}

function mismatch(platforms: readonly Platform[], queried: readonly Architecture[]): string {
  if (!platforms.some(({ os }) => os !== "")) return "has an index that names no image for a platform";
  const is = `is for ${platforms.map(formatPlatform).join(", ")} only`;
  return queried.length < architectures.length
    ? `${is}, and the pod for linux/${queried.join()}, by its node selector or affinity`
    : `${is}: ebb runs on linux/amd64 and linux/arm64`;
}

/** Formats what an image starts: `ENTRYPOINT ["/app"] CMD ["serve"]`. */
function commandText({ entrypoint, cmd }: Pick<ImageConfig, "entrypoint" | "cmd">): string {
  const named = [
    ["ENTRYPOINT", entrypoint],
    ["CMD", cmd],
  ] as const;
  const parts = named.flatMap(([name, words]) => (words.length === 0 ? [] : [`${name} ${JSON.stringify(words)}`]));
  return parts.join(" ") || "nothing";
}

/** Formats a platform as OCI tools do: `linux/arm64/v8`. */
export function formatPlatform({ os, architecture, variant }: Platform): string {
  return [os, architecture, variant].filter((part) => part !== "").join("/") || "an unknown platform";
}

/** Returns the answer that nothing is known of an image, and why. */
export function unknown(failure: LookupFailure, reason: string): Lookup {
  return { kind: "unknown", failure, reason: boundedReason(reason) };
}

import type { ImageCommand, Lookup } from "../../../../../src/cluster/image/core/lookup.ts";
import type { InjectPolicy } from "../../../../../src/cluster/inject/core/policy.ts";

/** Returns what a look-up finds, by default /app. */
export function found(said: Partial<ImageCommand>): Lookup {
  return { kind: "found", command: { entrypoint: ["/app"], cmd: [], stopSignal: undefined, ...said } };
}

/** Returns the part of a policy by which a registry says this of every image. */
export function imageSays(said: Partial<ImageCommand>): Pick<InjectPolicy, "imageOf"> {
  return { imageOf: () => found(said) };
}

/** The part of a policy by which no registry knows any image. */
export const unknownImage: Pick<InjectPolicy, "imageOf"> = {
  imageOf: () => ({ kind: "unknown", failure: "timeout", reason: "WHY" }),
};

import type { ImageConfig } from "../../build/image/oci.ts";

/** The content of an image. */
export interface Content {
  /** The paths of its files on this machine, by their paths in the image. */
  readonly files: Readonly<Record<string, string>>;
  readonly config: ImageConfig;
}

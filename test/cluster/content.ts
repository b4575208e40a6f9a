import type { ImageConfig } from "../../build/image/oci.ts";

export interface Content {
  /** Paths on this machine, by those in the image. */
  readonly files: Readonly<Record<string, string>>;
  readonly config: ImageConfig;
}

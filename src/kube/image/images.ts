import type { RegistryAuths } from "../../core/image/auths.ts";
import type { ImageQuery, Lookup } from "../../core/image/lookup.ts";

/** What registries say of images, remembered. */
export interface Images {
  /** Returns what is remembered, without waiting; undefined if a registry has to be asked. */
  known(query: ImageQuery, auths: readonly RegistryAuths[]): Lookup | undefined;
  /**
   * Looks an image up, and waits for at most `waitMs`. The registry may answer later, for the next one who asks. Never
   * rejects.
   */
  find(query: ImageQuery, auths: readonly RegistryAuths[], waitMs: number): Promise<Lookup>;
}

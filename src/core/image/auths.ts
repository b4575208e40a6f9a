/**
 * The credentials of one `config.json` of Docker's, or of one Secret of type kubernetes.io/dockerconfigjson, by the names
 * of the registries that it lists.
 */
export type RegistryAuths = ReadonlyMap<string, RegistryAuth>;

export interface RegistryAuth {
  readonly username: string;
  readonly password: string;
  /** An OAuth 2 refresh token in place of both. */
  readonly identityToken: string | undefined;
}

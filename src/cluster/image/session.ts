import type { Environment } from "../../shared/core/environment.ts";
import type { RegistryAuth } from "./core/auths.ts";
import type { Source, SourcePolicy } from "./core/sources.ts";

/** What all sessions of a client of registries share. */
export interface Client {
  readonly policy: SourcePolicy;
  /** All CAs that are trusted, in PEM; undefined: the usual ones. */
  readonly ca: readonly string[] | undefined;
  /** For HTTPS_PROXY. */
  readonly env: Environment;
  /** The most bytes of a manifest or a config. */
  readonly mostBytes: number;
  /** How many bytes of answers are arriving, by registry, and the most of each. */
  readonly arriving: Map<string, number>;
  readonly mostArriving: number;
  /** Whether a person started ebb. */
  readonly isAtDesk: boolean;
}

/** The requests of one look-up at one registry, about one repository. */
export interface Session {
  readonly source: Source;
  readonly client: Client;
  /** The credentials to try, in order; none: anonymous. */
  readonly auths: readonly RegistryAuth[];
  /** Its end, and how long it may take. */
  readonly signal: AbortSignal;
  readonly limitMs: number;
  /** The Authorization for the registry itself. */
  authorization?: string | undefined;
  /** Whether anybody has answered a request. */
  isAnswered: boolean;
  /** The secrets that were sent, which the answers may repeat. */
  readonly sent: string[];
}

/** Returns the registry's name for people: of a mirror, also what it mirrors. */
export function registryOf({ source: { host, mirrors } }: Pick<Session, "source">): string {
  return mirrors === undefined || mirrors === host ? host : `${host}, the mirror of ${mirrors},`;
}

/** Returns a server's name for people: also the registry's, if that has another name or refers to the server. */
export function serverOf({ source }: Pick<Session, "source">, url: string): string {
  const { host, origin } = new URL(url);
  if (host === source.host) return host;
  return origin === source.origin ? `${source.host} (${host})` : `${host}, to which ${source.host} refers,`;
}

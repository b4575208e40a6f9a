/**
 * The credentials of one request. `ca` is the server's, `cert` and `key` are the client's, all in PEM; undefined: not
 * used.
 */
export interface Identity {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns the Authorization for a name and a password (RFC 7617). */
export function basicAuthorization(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

/** How to reach one API server, and with which credentials. */
export interface Access {
  /** `https://10.96.0.1:443`, without a slash at the end. */
  readonly server: string;
  /** The name that the server's certificate must be for; undefined: the host in `server`. */
  readonly serverName?: string | undefined;
  /** True: the server's certificate is not verified. */
  readonly isInsecure?: boolean | undefined;
  /** The URL of a forward proxy. */
  readonly proxy?: string | undefined;
  /** The namespace to use if none is named. */
  readonly namespace: string;
  /**
   * Returns the credentials for the next request: tokens and certificates are replaced from time to time. `isRefused`:
   * the last ones were answered by 401. Rejects with Failure(69) if there are none.
   */
  identity(isRefused?: boolean): Promise<Identity>;
}

/** Returns how TLS is spoken to the server. */
export function tlsOf({ serverName, isInsecure }: Access, { ca, cert, key }: Identity): Bun.TLSOptions {
  const tls = { ca, cert, key, ...(serverName && { serverName }), rejectUnauthorized: isInsecure !== true };
  return tls as Bun.TLSOptions; // to Bun an undefined field is an absent one
}

/** The environment and the flags that decide which API server is used. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The path of --kubeconfig, which wins over KUBECONFIG. */
  readonly kubeconfig?: string | undefined;
  /** The name of the kubeconfig's context; undefined: the current one. */
  readonly context?: string | undefined;
}

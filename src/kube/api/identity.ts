/** What TLS needs of a client: PEM. */
export interface Identity {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** How to reach one API server, and as whom. */
export interface Access {
  /** `https://10.96.0.1:443`, without a slash at the end. */
  readonly server: string;
  /** The name that the server's certificate has to be for, if not its host's. */
  readonly serverName?: string | undefined;
  readonly isInsecure?: boolean | undefined;
  readonly proxy?: string | undefined;
  /** The namespace that is meant where none is named. */
  readonly namespace: string;
  /** Asked before each request, because tokens and certificates are replaced. `isRefused`: the last was answered by 401. */
  identity(isRefused?: boolean): Promise<Identity>;
}

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where a kubeconfig is, if not where KUBECONFIG says. */
  readonly kubeconfig?: string | undefined;
  /** Which of its contexts. */
  readonly context?: string | undefined;
}

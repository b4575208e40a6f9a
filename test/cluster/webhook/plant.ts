import { issueAuthority } from "../../../src/cluster/certificates/issue.ts";
import type { Namespace } from "../cluster.ts";

/** Puts a CA that ends in `lifeMs` in the place of the one that a Secret has, as whoever restores another Secret does. */
export async function plantAuthority(here: Namespace, secret: string, lifeMs: number): Promise<void> {
  const { cert, key } = issueAuthority({ fromMs: Date.now(), untilMs: Date.now() + lifeMs });
  await patchSecret(here, secret, { "ca.crt": cert, "ca.key": key });
}

/** Changes values of a Secret. */
export async function patchSecret(
  here: Namespace,
  secret: string,
  stringData: Readonly<Record<string, string>>,
): Promise<void> {
  await here.kubectl("patch", "secret", secret, "-p", JSON.stringify({ stringData }));
}

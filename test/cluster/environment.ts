import type { ImageReferences } from "./images.ts";

/** What test/cluster/run.ts tells the tests. */
export interface Environment {
  /** The names of the images that it has given to the cluster. */
  readonly images: ImageReferences;
  /** The socket of a `kubectl proxy`, which is authenticated in whichever way KUBECONFIG wants. */
  readonly proxy: string;
}

const variable = "EBB_TEST_CLUSTER";

/** As variables for a process that runs tests. */
export function variablesOf(environment: Environment): Readonly<Record<string, string>> {
  return { [variable]: JSON.stringify(environment) };
}

/** @throws Error outside of such a process */
export function environment(): Environment {
  const text = process.env[variable];
  if (text === undefined) throw new Error("no cluster: `npm run test:cluster` starts one for these tests");
  return JSON.parse(text);
}

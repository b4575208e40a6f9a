import type { ImageReferences } from "./images.ts";

/** The facts that test/cluster/run.ts passes to the tests. */
interface Environment {
  /** The names of the images that it has given to the cluster. */
  readonly images: ImageReferences;
  /** The path of the socket of a `kubectl proxy`, which authenticates itself as KUBECONFIG says. */
  readonly proxy: string;
}

const variable = "EBB_TEST_CLUSTER";

/** Returns these facts as variables for a process that runs tests. */
export function variablesOf(environment: Environment): Readonly<Record<string, string>> {
  return { [variable]: JSON.stringify(environment) };
}

/** Returns these facts in such a process. @throws Error in any other */
export function environment(): Environment {
  const text = process.env[variable];
  if (text === undefined) throw new Error("no cluster: `npm run test:cluster` starts one for these tests");
  return JSON.parse(text);
}

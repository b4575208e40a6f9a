import { join } from "node:path";

/** Where things are in the namespaces of a cluster: ports and paths are the usual ones, since nobody else is there. */
export const node = "node";

/** Networks for tests of devices (RFC 2544), which no machine routes. The first address of the pods' is the node's. */
export const network = {
  node: "198.19.0.1",
  pods: "198.19.0.0/24",
  services: "198.18.0.0/16",
  kubernetes: "198.18.0.1",
};

export const apiServer = "https://127.0.0.1:6443";

/** What of a cluster is started: `api-server`: with its etcd, and nothing that would act on objects. */
export type Parts = "all" | "api-server";

/** Tells inside.ts. */
export const partsVariable = "EBB_CLUSTER_PARTS";

/** What is in the folder of a cluster. */
export interface Place {
  readonly folder: string;
  /** Kubernetes' executables. */
  readonly kubernetes: string;
  /** The name of its control group, in each hierarchy. */
  readonly group: string;
  at(...path: readonly string[]): string;
}

export function placeOf(folder: string, kubernetes: string): Place {
  const group = folder.slice(folder.lastIndexOf("/") + 1);
  return { folder, kubernetes, group, at: (...path) => join(folder, ...path) };
}

/** Gives the archive of an image, the last word, to the node. */
export const importImage = ["ctr", "--namespace", "k8s.io", "images", "import"] as const;

/** For what runs in the namespaces of a cluster: the tests, kubectl. */
export function environmentIn({ at, kubernetes }: Place): Record<string, string | undefined> {
  const PATH = `${kubernetes}:${process.env.PATH}`;
  return { ...process.env, PATH, KUBECONFIG: at("admin.kubeconfig"), EBB_TEST_LOAD: importImage.join(" ") };
}

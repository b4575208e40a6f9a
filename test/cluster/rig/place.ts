import { join } from "node:path";

// Names, addresses and paths in the namespaces of a cluster. Ports and paths are the usual ones, since nobody else is
// there.

/** The name of the only node. */
export const node = "node";

/**
 * Networks for tests of devices (RFC 2544), which no machine routes. The first address of the pods' network is the
 * node's.
 */
export const network = {
  node: "198.19.0.1",
  pods: "198.19.0.0/24",
  services: "198.18.0.0/16",
  kubernetes: "198.18.0.1",
};

/** The folder with a folder for each registry whose images the node pulls, as containerd reads it (docs/hosts.md). */
export const registries = "certs.d";

/** The variable that tells tests the path of that folder; it is not set in a cluster that was there before. */
export const registriesVariable = "EBB_TEST_REGISTRIES";

export const apiServer = "https://127.0.0.1:6443";

/** The parts of a cluster that are started: all, or the API server with etcd, and nothing that would act on objects. */
export type Parts = "all" | "api-server";

/** The variable that tells inside.ts the parts. */
export const partsVariable = "EBB_CLUSTER_PARTS";

/** The folder of a cluster, and what belongs to it. */
export interface Place {
  readonly folder: string;
  /** The path of the folder with Kubernetes' executables. */
  readonly kubernetes: string;
  /** The name of its control group, in each hierarchy. */
  readonly group: string;
  /** Returns a path below `folder`. */
  at(...path: readonly string[]): string;
}

/** Returns the place whose folder, which names its control group, this is. */
export function placeOf(folder: string, kubernetes: string): Place {
  const group = folder.slice(folder.lastIndexOf("/") + 1);
  return { folder, kubernetes, group, at: (...path) => join(folder, ...path) };
}

/** The command that gives an image to the node; the path of its archive is put behind it. */
export const importImage = ["ctr", "--namespace", "k8s.io", "images", "import"] as const;

/** Returns the environment for processes in the namespaces of a cluster: the tests, kubectl. */
export function environmentIn({ at, kubernetes }: Place): Record<string, string | undefined> {
  const PATH = `${kubernetes}:${process.env.PATH}`;
  return {
    ...process.env,
    PATH,
    KUBECONFIG: at("admin.kubeconfig"),
    EBB_TEST_LOAD: importImage.join(" "),
    [registriesVariable]: at(registries),
  };
}

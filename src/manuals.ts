import type { Manual } from "./core/cli/help.ts";
import { ofCluster } from "./manuals/cluster.ts";
import { inPod } from "./manuals/pod.ts";

/** The texts of --help for each command, by its name. Only --help loads them. */
export const manuals: Readonly<Record<string, Manual>> = { ...inPod, ...ofCluster };

import type { Manual } from "./core/cli/help.ts";
import { ofCluster } from "./manuals/cluster.ts";
import { inPod } from "./manuals/pod.ts";

/** What --help tells of each command. Loaded for --help alone, so it imports nothing that a start needs. */
export const manuals: Readonly<Record<string, Manual>> = { ...inPod, ...ofCluster };

import { LOCAL_VOLUMES } from "../annotation-names.ts";
import type { Concern } from "./concern.ts";

/**
 * Cluster Autoscaler removes no node with a pod that has an emptyDir, unless the pod's annotation names that volume
 * (autoscaler 1.27, utils/drain/drain.go, HasBlockingLocalStorage: it splits at commas, and trims nothing).
 */
export const autoscaler: Concern = ({ pod }, _apps, planned) => {
  const own = planned.flatMap((edit) =>
    edit.kind === "volume" && edit.volume.emptyDir != null ? [edit.volume.name] : [],
  );
  const named = pod.metadata?.annotations?.[LOCAL_VOLUMES]?.split(",") ?? [];
  const names = own.filter((name) => !named.includes(name));
  return { edits: names.length === 0 ? [] : [{ kind: "local-volumes", names }] };
};

import { objectOf, parseObject } from "../base/json.ts";
import { STATUS } from "../inject/annotation-names.ts";
import { EBB_FOLDER } from "../inject/facts/command.ts";
import { partsOf, runningIn } from "../reap/pod-containers.ts";
import type { PodView } from "../reap/pod-view.ts";

/** kubectl's own annotation (k8s.io/kubectl pkg/cmd/util/podcmd). */
const DEFAULT = "kubectl.kubernetes.io/default-container";

/**
 * Lists the running containers in which ebb may be, the likeliest first: the app that ebb was put before, the pod's
 * default container or its first app; then those into which ebb is mounted.
 */
export function execContainers(pod: PodView): readonly string[] {
  const { annotations } = pod;
  const [wrapped] = Object.keys(objectOf(parseObject(annotations.get(STATUS) ?? "")?.containers));
  const app = wrapped ?? annotations.get(DEFAULT) ?? partsOf(pod).apps[0]?.name;
  const running = runningIn(pod);
  const likely = running.filter(({ name }) => name === app);
  const mounted = running.filter(({ mountPaths }) => mountPaths.includes(EBB_FOLDER));
  return [...new Set([...likely, ...mounted].map(({ name }) => name))];
}

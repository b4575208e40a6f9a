import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../harness/ebb.ts";
import type { Container, ContainerOptions, Pod } from "./pod.ts";
import type { Beside } from "./subject.ts";

/** A container to be started in a pod. */
interface Start {
  readonly pod: Pod;
  readonly command: readonly string[];
  readonly options?: ContainerOptions;
}

/**
 * Starts a container. If `isHeld`, its program starts only when it is released, as if its image were still being
 * pulled.
 */
export async function startHeld({ pod, command, options }: Start, isHeld: boolean): Promise<Beside> {
  if (!isHeld) return { container: await pod.start(command, options), release: async () => undefined };
  const folder = temporaryFolder();
  const sign = join(folder.path, "start");
  const script = 'until [ -e "$0" ]; do sleep 0.01; done; exec "$@"';
  const container: Container = await pod.start(["sh", "-c", script, sign, ...command], options);
  void container.ended.then(() => folder[Symbol.dispose]());
  return { container, release: async () => writeFileSync(sign, "") };
}

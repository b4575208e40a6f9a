import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../harness.ts";
import type { Container, ContainerOptions, Pod } from "./pod.ts";
import type { Beside } from "./subject.ts";

export interface Start {
  readonly pod: Pod;
  readonly command: readonly string[];
  readonly options?: ContainerOptions;
}

/** A container whose program starts when it is released: its image is still being pulled. */
export async function startHeld({ pod, command, options }: Start, isHeld: boolean): Promise<Beside> {
  if (!isHeld) return { container: await pod.start(command, options), release: async () => undefined };
  const folder = temporaryFolder();
  const sign = join(folder.path, "start");
  const script = 'until [ -e "$0" ]; do sleep 0.01; done; exec "$@"';
  const container: Container = await pod.start(["sh", "-c", script, sign, ...command], options);
  void container.ended.then(() => folder[Symbol.dispose]());
  return { container, release: async () => writeFileSync(sign, "") };
}

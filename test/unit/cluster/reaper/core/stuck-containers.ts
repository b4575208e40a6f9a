import { describeMethod, type Ending } from "../../../../../src/cluster/reaper/core/methods.ts";

/** Describes the methods that end a container, in their order, or returns the reason why there are none. */
export function told(got: Ending | string): readonly string[] {
  return typeof got === "string" ? [got] : got.methods.map(describeMethod);
}

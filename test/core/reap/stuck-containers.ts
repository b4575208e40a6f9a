import { describeMethod, type Ending } from "../../../src/core/reap/methods.ts";

/** In words, with the methods in their order. */
export function told(got: Ending | string): readonly string[] {
  return typeof got === "string" ? [got] : got.methods.map(describeMethod);
}

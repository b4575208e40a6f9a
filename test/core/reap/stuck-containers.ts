import { describeMeans, type Ending } from "../../../src/core/reap/means.ts";

/** In words, with the means in their order. */
export function told(got: Ending | string): readonly string[] {
  return typeof got === "string" ? [got] : got.means.map(describeMeans);
}

import { boolean } from "../../../../shared/cli/core/syntax.ts";
import { splitBy } from "../../../../shared/core/text.ts";

/** What a value of ebb.dev/native says. */
interface NativeValue {
  /** Its first word, if that is true or false: which ordinary containers are to become native sidecars. */
  readonly wish: boolean | undefined;
  /** The sidecars that are native. */
  readonly names: readonly string[];
}

/** Reads a value of ebb.dev/native: `true`, `istio,dapr`, `true,cloud-sql-proxy`. Its names may be anything. */
export function readNativeValue(text: string): NativeValue {
  const [first = "", ...rest] = splitBy(text, ",");
  const wish = boolean.parse(first);
  return { wish, names: wish === undefined && first !== "" ? [first, ...rest] : rest };
}

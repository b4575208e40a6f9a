import { splitBy } from "../base/text.ts";

/** What a value of ebb.dev/native says. */
export interface NativeValue {
  /** Its first word, if that is one of these: which ordinary containers are to become native sidecars. */
  readonly wish: "true" | "false" | undefined;
  /** The sidecars that are native. */
  readonly names: readonly string[];
}

/** Reads a value of ebb.dev/native: `true`, `istio,dapr`, `true,cloud-sql-proxy`. Its names may be anything. */
export function readNativeValue(text: string): NativeValue {
  const [first, ...rest] = splitBy(text, ",");
  if (first === "true" || first === "false") return { wish: first, names: rest };
  return { wish: undefined, names: first === undefined ? [] : [first, ...rest] };
}

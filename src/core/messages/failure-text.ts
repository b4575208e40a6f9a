import type { failures, plainWarnings } from "./failures.ts";
import type { usageFailures } from "./usage-failures.ts";

// Types alone, as log-types.ts.

type Pattern = keyof typeof failures | keyof typeof usageFailures;

/** `{path}: not UTF-8 text` as a type: any text in the place of each name. */
type Fill<P extends string> = P extends `${infer Start}{${string}}${infer Rest}` ? `${Start}${string}${Fill<Rest>}` : P;

/** A text that fits a pattern of the catalogue. */
export type FailureText = Fill<Pattern>;

/** The text of a warning that is not in the log. */
export type PlainWarning = Fill<keyof typeof plainWarnings>;

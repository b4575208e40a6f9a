import type { Fields, Log } from "../../../src/shared/output/log.ts";

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: Fields;
}

/** Creates a log that keeps its lines, of all levels, in `lines`. */
export function collectLog(): Log & { readonly lines: readonly Line[] } {
  const lines: Line[] = [];
  const at = (level: string) => (fields: Fields, message: string) => void lines.push({ level, message, fields });
  return {
    lines,
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
  };
}

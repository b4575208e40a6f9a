/**
 * Formats a value as JSON, with `unit` as a step of indentation, for a line that is indented by `base`; on one line if
 * `base` is undefined.
 */
export function jsonText(value: unknown, unit: string, base: string | undefined): string {
  if (base === undefined) return JSON.stringify(value);
  return JSON.stringify(value, null, unit).replaceAll("\n", `\n${base}`);
}

/** Formats a field as JSON: `"key": value`. `unit` and `base` are as for `jsonText`. */
export function jsonField([key, value]: readonly [string, unknown], unit: string, base: string | undefined): string {
  return `${JSON.stringify(key)}:${unit === "" ? "" : " "}${jsonText(value, unit, base)}`;
}

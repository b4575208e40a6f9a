/** JSON as it stands in a line with this indentation; undefined: all on that line. */
export function jsonText(value: unknown, unit: string, base: string | undefined): string {
  if (base === undefined) return JSON.stringify(value);
  return JSON.stringify(value, null, unit).replaceAll("\n", `\n${base}`);
}

export function jsonField([key, value]: readonly [string, unknown], unit: string, base: string | undefined): string {
  return `${JSON.stringify(key)}:${unit === "" ? "" : " "}${jsonText(value, unit, base)}`;
}

/** Returns a value that is not undefined. @throws Error if it is */
export function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("not readable");
  return value;
}

const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/**
 * Parses a Kubernetes quantity (`100m`, `1.5Gi`, `1e3`, or the number 2) to a number of bytes, cores or the like
 * (apimachinery, pkg/api/resource). Returns undefined for anything else, negative ones included.
 */
export function parseQuantity(value: unknown): number | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const match = /^(\+?(?:\d+(?:\.\d*)?|\.\d+))(?:[eE]([+-]?\d{1,3})|([numkMGTPE]|[KMGTPE]i)?)$/.exec(String(value));
  if (match === null) return undefined;
  const [, digits, exponent, suffix = ""] = match;
  const factor = exponent === undefined ? (factors[suffix] as number) : 10 ** Number(exponent);
  return Number(digits) * factor;
}

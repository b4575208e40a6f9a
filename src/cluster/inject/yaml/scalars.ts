import type { Scalar } from "yaml";

/** The value of a YAML scalar. */
type ScalarValue = string | number | boolean | null;

/**
 * Returns the value of a plain YAML scalar without a tag, as Kubernetes reads it. Kubernetes has a YAML 1.1 of its own:
 * `no` is false, 0644 is 420, 12:30 is text (go.yaml.in/yaml/v2, resolve.go, by sigs.k8s.io/yaml).
 */
export function plainValue(text: string): ScalarValue {
  const word = words.get(text);
  if (word !== undefined) return word;
  if (nulls.has(text)) return null;
  if (!/^([-+\d]|\.\d)/.test(text)) return text;
  const digits = text.replaceAll("_", "");
  return integer(digits) ?? float(digits) ?? text;
}

/**
 * Returns the value of a YAML scalar of any style and tag, as Kubernetes reads it.
 * @throws Error if its tag does not allow the value, as in `!!int x`
 */
export function scalarValue({ value, type, tag, source }: Scalar): ScalarValue {
  const text = source ?? String(value ?? ""); // the parser knows some tags
  if (tag === undefined) return type === "PLAIN" ? plainValue(text) : text;
  if (tag === `${STANDARD}binary`) return Buffer.from(text, "base64").toString();
  const isRight = typesOf.get(tag);
  if (isRight === undefined) return text;
  const resolved = plainValue(text);
  if (!isRight(resolved)) throw new Error(`cannot decode ${JSON.stringify(text)} as ${tag.replace(STANDARD, "!!")}`);
  return resolved;
}

const STANDARD = "tag:yaml.org,2002:";

const typesOf: ReadonlyMap<string, (value: ScalarValue) => boolean> = new Map([
  [`${STANDARD}int`, Number.isInteger],
  [`${STANDARD}float`, (value) => typeof value === "number"],
  [`${STANDARD}bool`, (value) => typeof value === "boolean"],
  [`${STANDARD}null`, (value) => value === null],
]);

const words: ReadonlyMap<string, number | boolean> = new Map<string, number | boolean>([
  ...["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"].map((word) => [word, true] as const),
  ...["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"].map((word) => [word, false] as const),
  ...[".nan", ".NaN", ".NAN"].map((word) => [word, Number.NaN] as const),
  ...["", "+"].flatMap((sign) => [".inf", ".Inf", ".INF"].map((word) => [sign + word, Infinity] as const)),
  ...["-.inf", "-.Inf", "-.INF"].map((word) => [word, -Infinity] as const),
]);

const nulls: ReadonlySet<string> = new Set(["", "~", "null", "Null", "NULL"]);

/** The most digits of an integer of 64 bits, in any base, without leading zeros. */
const MOST_DIGITS = 64;

/**
 * Parses an integer as strconv.ParseInt and ParseUint do with base 0. Returns undefined if it does not fit into 64
 * bits.
 */
function integer(text: string): number | undefined {
  const [, sign, hex, binary, octal, decimal] =
    /^([-+]?)(?:0[xX]([\da-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9]\d*))$/.exec(text) ?? [];
  const significant = (hex ?? binary ?? octal ?? decimal ?? "").replace(/^0+/, "");
  if (sign === undefined || significant.length > MOST_DIGITS) return undefined;
  const base = hex ? "0x" : binary ? "0b" : octal ? "0o" : "";
  const size = BigInt(base + (significant || "0"));
  const value = sign === "-" ? -size : size;
  return value >= -(2n ** 63n) && value < 2n ** 64n ? Number(value) : undefined;
}

function float(text: string): number | undefined {
  if (!/^[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?$/.test(text)) return undefined;
  return Number.isFinite(Number(text)) ? Number(text) : undefined;
}

import { describePath, listOf, objectOf, type Path, textOf, valueAt } from "../../../../shared/core/json.ts";
import { type Architecture, architectures } from "../../../image/core/lookup.ts";
import type { Pod, Remark } from "../pod.ts";

/** The nodes on which ebb runs, by the labels that the kubelet gives them. */
const systems = ["linux"];
const archLabels = ["kubernetes.io/arch", "beta.kubernetes.io/arch"];
const supported: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ["kubernetes.io/os", systems],
  ["beta.kubernetes.io/os", systems],
  ...archLabels.map((label) => [label, architectures] as const),
]);

/**
 * Returns a problem if a pod can run only where ebb cannot: on another system than Linux, or on another architecture
 * than amd64 and arm64. It is told by spec.os, hostProcess, the node selector and the required node affinity. Returns
 * undefined for other pods.
 */
export function otherSystem({ spec }: Pod): Remark | undefined {
  const windows = (field: string) => problem(field, systems, "for Windows");
  if (spec.os?.name === "windows") return windows("spec.os.name");
  if (objectOf(objectOf(spec.securityContext).windowsOptions).hostProcess === true)
    return windows("spec.securityContext.windowsOptions.hostProcess");
  for (const [label, ours] of supported) {
    const value = spec.nodeSelector?.[label];
    if (value !== undefined && !ours.includes(value))
      return problem(`spec.nodeSelector[${label}]`, ours, whereOf([value]));
  }
  return otherByAffinity(spec);
}

const TERMS: Path = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms".split(".");

/** Returns a problem if no term of the required node affinity admits a node for which there is an ebb. */
function otherByAffinity(spec: Pod["spec"]): Remark | undefined {
  const terms = termsOf(spec);
  const excluding = terms.map((expressions) => expressions.findIndex(excludesAll)); // -1: none
  const [at] = excluding;
  if (at === undefined || excluding.includes(-1)) return undefined;
  const { key, operator, values } = objectOf(terms[0]?.[at]);
  const where = operator === "In" ? whereOf(listOf(values)) : `not for ${listOf(values).join(", ")}`;
  const ours = supported.get(String(key)) ?? [];
  return problem(describePath(["spec", ...TERMS, 0, "matchExpressions", at]), ours, where);
}

/** Returns the requirements of each term of the required node affinity. A node must meet all of one term. */
function termsOf(spec: Pod["spec"]): readonly (readonly unknown[])[] {
  return listOf(valueAt(spec, TERMS)).map((term) => listOf(objectOf(term).matchExpressions));
}

/** Reports whether no node for which there is an ebb meets a requirement of nodes. */
function excludesAll(expression: unknown): boolean {
  const ours = supported.get(textOf(objectOf(expression).key) ?? "");
  return ours !== undefined && !ours.some((value) => admits(expression, value));
}

/** Reports whether a requirement admits nodes whose label has this value. */
function admits(expression: unknown, value: string): boolean {
  const { operator, values } = objectOf(expression);
  const isNamed = listOf(values).includes(value);
  return operator === "In" ? isNamed : !(operator === "NotIn" && isNamed);
}

/** Returns the processors of the nodes on which a pod may run; all for which there is an ebb if it does not say. */
export function architecturesOf({ spec }: Pod): readonly Architecture[] {
  const selected = architectures.filter((one) =>
    archLabels.every((label) => (spec.nodeSelector?.[label] ?? one) === one),
  );
  const terms = termsOf(spec);
  const meets = (one: Architecture) => (expressions: readonly unknown[]) =>
    expressions.every((each) => !archLabels.includes(textOf(objectOf(each).key) ?? "") || admits(each, one));
  const admitted = selected.filter((one) => terms.length === 0 || terms.some(meets(one)));
  return admitted.length === 0 ? architectures : admitted;
}

function whereOf(values: readonly unknown[]): string {
  return `for ${values.map((value) => (value === "windows" ? "Windows" : value)).join(", ")}`;
}

function problem(field: string, ours: readonly string[], where: string): Remark {
  const own = ours === systems ? "Linux" : ours.join(" and ");
  return { field, message: `ebb is for ${own}, and this pod is ${where}` };
}

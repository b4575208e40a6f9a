import { listOf, objectOf } from "../../../../shared/core/json.ts";
import type { Container, Pod } from "../pod.ts";

/**
 * Returns the options that say when the kubelet restarts a container: `restart-policy`, and `restart-codes` if it has
 * restartPolicyRules. The kubelet restarts it if any of them matches, as each has the action to restart.
 */
export function restartOptions(container: Container, { spec }: Pod): readonly (readonly [string, string])[] {
  const own = container.restartPolicy;
  const policy = own ?? spec.restartPolicy ?? "Always";
  const rules =
    own == null ? [] : listOf(container.restartPolicyRules).map((rule) => objectOf(objectOf(rule).exitCodes));
  if (rules.length === 0) return [["restart-policy", policy]];
  const codes = codesOf(rules);
  if (codes === undefined) return [["restart-policy", "Always"]];
  return [
    ["restart-policy", policy],
    ["restart-codes", codes],
  ];
}

/**
 * Returns the exit codes that any of these rules covers, as an option's value: `42,43`, or `!0,1` for all but these.
 * Returns undefined if that is all of them. An operator that this ebb does not know is taken to match.
 */
function codesOf(rules: readonly ReturnType<typeof objectOf>[]): string | undefined {
  const covered = rules.filter(({ operator }) => operator === "In").flatMap(({ values }) => listOf(values));
  const excepted = rules
    .filter(({ operator }) => operator !== "In")
    .map(({ operator, values }) => (operator === "NotIn" ? listOf(values) : []));
  const [first, ...rest] = excepted;
  if (first === undefined) return covered.length === 0 ? undefined : covered.join(",");
  const left = first.filter((code) => !covered.includes(code) && rest.every((codes) => codes.includes(code)));
  return left.length === 0 ? undefined : `!${left.join(",")}`;
}

/** Reports whether a pod's containers are restarted whenever they end, as servers are: its restartPolicy is Always. */
export function restartsAlways({ spec }: Pod): boolean {
  return (spec.restartPolicy ?? "Always") === "Always";
}

/** Reports whether a container ends for good, at some end at least: the kubelet does not always restart it. */
export function mayEnd({ restartPolicy }: Container, { spec }: Pod): boolean {
  return (restartPolicy ?? spec.restartPolicy ?? "Always") !== "Always";
}

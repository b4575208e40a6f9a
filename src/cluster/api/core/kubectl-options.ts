import { changed, option, optional } from "../../../shared/cli/core/option.ts";
import { boolean, oneOf } from "../../../shared/cli/core/syntax.ts";

// What kubectl's users type, in the commands for a cluster.

export const allNamespaces = option({
  flag: "all-namespaces",
  group: "cluster",
  initial: false,
  syntax: boolean,
  isFlagOnly: true,
  help: "-A: the pods of all namespaces",
  brief: "-A: all namespaces",
});

export const outputFormat = optional({
  flag: "output",
  value: "FORMAT",
  syntax: oneOf(["json", "yaml", "wide"]),
  secret: false,
  isFlagOnly: true,
  help: "-o: json or yaml for programs; wide for more columns",
  brief: "-o: the format",
});

/** -A and -o json. */
export const scopeOptions = {
  allNamespaces: changed(allNamespaces, { help: "-A: the pods of all namespaces, whatever --namespace says" }),
  output: changed(outputFormat, { value: "json", syntax: oneOf(["json"]), help: "-o: json as --json" }),
};

interface Scoped {
  readonly allNamespaces: boolean;
  readonly namespace: readonly (readonly string[])[];
  readonly output: string | undefined;
  readonly json: boolean;
}

/** Returns the values with what -A and -o json say. -A wins over -n, as with kubectl. */
export function withScope<V extends Scoped>(values: V): V {
  const { allNamespaces: isAll, namespace, output: format, json } = values;
  return { ...values, namespace: isAll ? [] : namespace, json: json || format === "json" };
}

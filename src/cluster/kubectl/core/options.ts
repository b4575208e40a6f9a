import { changed, option, optional } from "../../../shared/cli/core/option.ts";
import { boolean, syntax } from "../../../shared/cli/core/syntax.ts";
import { isDnsLabel, isDnsSubdomain } from "../../../shared/core/dns-name.ts";
import { EXIT, Failure } from "../../../shared/core/exit.ts";
import { allNamespaces, outputFormat, scopeOptions } from "../../api/core/kubectl-options.ts";
import { reaperOptions } from "../../reaper/core/reaper-options.ts";

const label = syntax((given) => (isDnsLabel(given) ? given : undefined), "a name such as shop");
const flagOnly = { isFlagOnly: true, secret: false } as const;

const namespace = optional({
  ...flagOnly,
  flag: "namespace",
  group: "cluster",
  value: "NAME",
  initially: "the context's",
  syntax: label,
  help: "-n: the pod's namespace",
  brief: "-n: its namespace",
});

/** Returns the options of a command for the whole cluster as the plugin shows them. */
export function clusterOptionsOf<O extends { readonly namespace: (typeof reaperOptions)["namespace"] }>(options: O) {
  return {
    ...options,
    namespace: changed(options.namespace, { initially: "the context's" }),
    ...scopeOptions,
  };
}

const end = option({
  flag: "end",
  group: "reaping",
  initial: false,
  syntax: boolean,
  isFlagOnly: true,
  help: "end the sidecars if the pod is stuck, whether or not a reaper selects it",
  brief: "end the sidecars if it is stuck",
});

const { kubeconfig, context, selector, methods, allJobs, after, allowReapExec, image, imagePullPolicy } = reaperOptions;
const own = { namespace, kubeconfig, context };

/** The values of the flags that say which cluster and namespace a command of the plugin is about. */
export interface ClusterSettings {
  readonly namespace: string | undefined;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
}

/** The options of each command of the plugin that is about pods. They share some with `ebb reaper`. */
export const podOptions = {
  status: {
    ...own,
    allNamespaces,
    selector: changed(selector, { group: "cluster", help: "-l: the pods with these labels" }),
    output: outputFormat,
  },
  why: { ...own, output: outputFormat, end, allJobs, after, methods, allowReapExec, image, imagePullPolicy },
};

/** Returns the pod's name in `NAME` or `pod/NAME`. @throws Failure(64) for anything else, or more than one */
export function podNameIn(operands: readonly string[]): string {
  const [given, ...more] = operands;
  const [, name = ""] = /^(?:(?:po|pods?)\/)?(.*)$/s.exec(given ?? "") ?? [];
  if (more.length === 0 && isDnsSubdomain(name)) return name;
  throw new Failure(EXIT.usage, `POD: ${podProblem(operands)}; kubectl get pods lists them`);
}

function podProblem(operands: readonly string[]): string {
  if (operands.length > 1) return `expected one pod, got ${operands.length}: ${operands.join(", ")}`;
  return `expected a pod such as web-0 or pod/web-0, got ${JSON.stringify(operands[0]) ?? "none"}`;
}

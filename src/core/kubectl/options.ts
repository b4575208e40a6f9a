import { isDnsLabel, isDnsSubdomain } from "../base/dns-name.ts";
import { reaperOptions } from "../cli/cluster/reaper-options.ts";
import { changed, option, optional } from "../cli/option.ts";
import { options, pickOptions } from "../cli/options.ts";
import { boolean, oneOf, syntax } from "../cli/syntax.ts";
import { EXIT, Failure } from "../run/exit.ts";

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
});

const output = optional({
  ...flagOnly,
  flag: "output",
  value: "FORMAT",
  syntax: oneOf(["json", "yaml", "wide"]),
  help: "-o: json or yaml for programs; wide for more columns",
});

/** Returns the options of a command for the whole cluster as the plugin shows them. */
export function clusterOptionsOf<O extends { readonly namespace: (typeof reaperOptions)["namespace"] }>(options: O) {
  return {
    ...options,
    namespace: changed(options.namespace, { initially: "the context's" }),
    allNamespaces,
    output: changed(output, { value: "json", syntax: oneOf(["json"]), help: "-o: json for programs" }),
  };
}

const container = optional({
  ...flagOnly,
  flag: "container",
  group: "cluster",
  value: "NAME",
  syntax: label,
  help: "-c: the container in which ebb is looked for, instead of the app's",
});

export const allNamespaces = option({
  flag: "all-namespaces",
  group: "cluster",
  initial: false,
  syntax: boolean,
  isFlagOnly: true,
  help: "-A: the pods of all namespaces",
});

const end = option({
  flag: "end",
  group: "reaping",
  initial: false,
  syntax: boolean,
  isFlagOnly: true,
  help: "end the sidecars if the pod is stuck, whether or not a reaper selects it",
});

const { kubeconfig, context, selector, methods, allJobs, after, allowReapExec, image, imagePullPolicy } = reaperOptions;
const own = { namespace, kubeconfig, context };
const withImage = {
  image: changed(image, {
    group: "cluster",
    help: "the image of an ephemeral container, if nothing else reaches the pod",
  }),
  imagePullPolicy: changed(imagePullPolicy, { group: "cluster" }),
};
const reaping = { methods, allowReapExec, image, imagePullPolicy };
const labels = changed(selector, { group: "cluster", help: "-l: the pods with these labels" });

/** The options of each command of the plugin that is about one pod. They share some with `ebb reaper`. */
export const podOptions = {
  status: { ...own, allNamespaces, selector: labels, container, output, ...withImage },
  drain: { ...own, container, ...withImage },
  quit: { ...own, container, ...reaping },
  why: { ...own, output, end, allJobs, after, ...reaping },
};

/** The flags that a drain through a port-forward takes after `--`. */
export const farDrainOptions = {
  ...pickOptions("minDrain", "maxInFlight", "logLevel", "logFormat", "quiet"),
  drain: changed(options.drain, { initial: 60_000, initially: "60s" }),
};

/** The short flags, as kubectl has them. */
export const pluginShort = {
  n: "namespace",
  A: "all-namespaces",
  l: "selector",
  c: "container",
  o: "output",
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

/** A call of `ebb reaper` or `ebb doctor`, and in which namespace: `all`, `given` in its flags, or the `current` one. */
export interface Translated {
  readonly args: readonly string[];
  readonly namespace: "all" | "given" | "current";
}

/**
 * Translates kubectl's flags, with long names, to those of a command for the whole cluster. -A wins over -n, as with
 * kubectl. @throws Failure(64) for a format that the command does not have
 */
export function translate(args: readonly string[]): Translated {
  const isAll = args.includes("--all-namespaces");
  const own: string[] = [];
  let isGiven = false;
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] as string;
    const [, flag, inline] = /^--(namespace|output)(?:=(.*))?$/s.exec(arg) ?? [];
    if (flag === undefined) {
      if (arg !== "--all-namespaces") own.push(arg);
      continue;
    }
    const value = inline ?? args[++at];
    if (flag === "output") own.push(formatFlag(value));
    else if (!isAll) own.push(value === undefined ? arg : `--namespace=${value}`);
    isGiven ||= flag === "namespace";
  }
  return { args: own, namespace: isAll ? "all" : isGiven ? "given" : "current" };
}

function formatFlag(format: string | undefined): string {
  if (format === "json") return "--json";
  throw new Failure(EXIT.usage, `--output: expected json, got ${JSON.stringify(format ?? "")}`);
}

import { isDnsLabel, isDnsSubdomain } from "../base/dns-name.ts";
import { allNamespaces, output, scopeOptions } from "../cli/cluster/kubectl-options.ts";
import { reaperOptions } from "../cli/cluster/reaper-options.ts";
import { changed, option, optional } from "../cli/option.ts";
import { options, pickOptions } from "../cli/options.ts";
import { kubectlShort } from "../cli/short-flags.ts";
import { boolean, syntax } from "../cli/syntax.ts";
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

/** Returns the options of a command for the whole cluster as the plugin shows them. */
export function clusterOptionsOf<O extends { readonly namespace: (typeof reaperOptions)["namespace"] }>(options: O) {
  return {
    ...options,
    namespace: changed(options.namespace, { initially: "the context's" }),
    ...scopeOptions,
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
export const pluginShort = { ...kubectlShort, c: "container" };

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

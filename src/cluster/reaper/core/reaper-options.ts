import { changed, list, option, optional, type Values } from "../../../shared/cli/core/option.ts";
import { optionsOf } from "../../../shared/cli/core/options.ts";
import { boolean, duration, syntax, wholeNumber } from "../../../shared/cli/core/syntax.ts";
import { isDnsLabel } from "../../../shared/core/dns-name.ts";
import { splitBy } from "../../../shared/core/text.ts";
import { scopeOptions } from "../../api/core/kubectl-options.ts";
import { labelSelector } from "../../core/label-selector.ts";
import { injectionOptions } from "../../inject/core/injection-options.ts";
import { webhookOptions } from "../../webhook/core/webhook-options.ts";
import type { ReaperLimits } from "./limits.ts";
import { type MethodKind, methodKinds } from "./methods.ts";

const names = syntax((given) => {
  const all = splitBy(given, ",");
  return all.length > 0 && all.every(isDnsLabel) ? all : undefined;
}, "names such as shop or shop,bank");
const count = syntax((given) => wholeNumber.parse(given) || undefined, "a whole number above 0");

const reaping = {
  namespace: list({
    flag: "namespace",
    group: "reaping",
    value: "NAME[,NAME]",
    initially: "all",
    syntax: names,
    secret: false,
    help: "-n: only pods in these namespaces; a Role in each of them is enough",
    brief: "-n: only these namespaces",
  }),
  selector: optional({
    flag: "selector",
    group: "reaping",
    value: "LABELS",
    syntax: labelSelector,
    secret: false,
    help: "only pods with these labels; the API server sends no others",
    brief: "-l: only pods with these labels",
  }),
  allJobs: option({
    flag: "all-jobs",
    group: "reaping",
    initial: false,
    syntax: boolean,
    help: 'also the pods of all Jobs, except those with ebb.dev/reap: "false"',
    brief: "also the pods of all Jobs",
  }),
  after: option({
    flag: "after",
    group: "reaping",
    value: "D",
    initial: 5000,
    syntax: duration,
    help: "act this long after the app has ended, because the sidecars may exit by themselves",
  }),
  methods: option<readonly MethodKind[]>({
    flag: "methods",
    group: "reaping",
    value: "NAME[,NAME]",
    initial: methodKinds,
    initially: methodKinds.join(","),
    syntax: syntax(parseMethods, `of ${methodKinds.join(", ")}, in the order in which they are tried`),
    help: "the methods that ebb may use to end a sidecar; ephemeral needs --image",
  }),
  allowReapExec: option({
    flag: "allow-reap-exec",
    group: "reaping",
    initial: false,
    syntax: boolean,
    help: "run the commands that pods name in ebb.dev/reap-exec; anyone who may annotate a pod can then run commands in it",
  }),
  image: changed(injectionOptions.image, {
    group: "reaping",
    help: "the image for ephemeral containers, with ebb at /ebb; without it, the reaper creates none",
  }),
  imagePullPolicy: changed(injectionOptions.imagePullPolicy, { group: "reaping" }),
  once: option({
    flag: "once",
    group: "reaping",
    initial: false,
    syntax: boolean,
    help: "look once, shut down the sidecars of stuck pods, print what was done with each pod and why, and exit",
    brief: "look once, act, and exit",
  }),
  dryRun: option({
    flag: "dry-run",
    group: "reaping",
    initial: false,
    syntax: boolean,
    help: "only report what would be done",
    brief: "only report what would be done",
  }),
};

const cluster = {
  ...scopeOptions,
  kubeconfig: changed(webhookOptions.kubeconfig, { group: "cluster" }),
  context: changed(webhookOptions.context, { group: "cluster" }),
  // 20: controller-runtime's (pkg/client/config)
  qps: option({
    flag: "qps",
    group: "cluster",
    value: "N",
    initial: 20,
    initially: "20",
    syntax: count,
    isRare: true,
    help: "requests to the API server per second, on average",
  }),
};

const common = optionsOf("reaper");

/** The options of `ebb reaper`. */
export const reaperOptions = {
  ...reaping,
  ...cluster,
  healthListen: webhookOptions.healthListen,
  ...common,
  json: changed(common.json, { help: "with --once: print JSON" }),
};

export type ReaperSettings = Values<typeof reaperOptions> & ReaperLimits;

function parseMethods(given: string): readonly MethodKind[] | undefined {
  const names = splitBy(given, ",");
  const methods = names.flatMap((each) => methodKinds.find((kind) => kind === each) ?? []);
  return names.length > 0 && methods.length === new Set(names).size ? methods : undefined;
}

import { injectionOptions } from "../cluster/inject/core/injection-options.ts";
import { expectImage, injectPolicyOf } from "../cluster/inject/core/injection-policy.ts";
import type { ComponentName } from "../cluster/manifests/manifests.ts";
import { usableMethods } from "../cluster/reaper/core/policy.ts";
import { reaperOptions } from "../cluster/reaper/core/reaper-options.ts";
import { webhookOptions } from "../cluster/webhook/core/webhook-options.ts";
import { badCall, type Command, type Invocation } from "../command.ts";
import { type Call, readFlagCall, readOperandCall } from "../shared/cli/core/call.ts";
import { changed, type Options, optional } from "../shared/cli/core/option.ts";
import { expandShortFlags, kubectlShort } from "../shared/cli/core/short-flags.ts";
import { nearest } from "../shared/cli/core/suggestion.ts";
import { syntax } from "../shared/cli/core/syntax.ts";
import { isDnsLabel } from "../shared/core/dns-name.ts";
import { allOf, EXIT, Failure } from "../shared/core/exit.ts";
import { writeContent } from "../shared/output/content.ts";
import { writeError } from "../shared/output/output.ts";

const components: readonly ComponentName[] = ["webhook", "reaper"];

// no variables: the same call always prints the same
const options = {
  image: changed(injectionOptions.image, {
    group: "installation",
    help: "the image with ebb at /ebb, for ebb's own pods and for the pods that get ebb",
    variables: [],
  }),
  namespace: optional({
    flag: "namespace",
    group: "installation",
    value: "NAME",
    initially: "ebb-webhook and ebb-reaper, which are created",
    syntax: syntax((name) => (isDnsLabel(name) ? name : undefined), "a namespace's name"),
    secret: false,
    isFlagOnly: true,
    help: "-n: install into this existing namespace; removing ebb does not delete it",
  }),
};

/** `ebb manifests` prints, as YAML, the objects that install ebb in a cluster. */
export const command: Command = {
  summary: "print the YAML that installs the webhook and the reaper",
  usage: "manifests [webhook|reaper] --image IMAGE [-n NAMESPACE] [-- FLAG...]",
  about:
    "Prints the YAML that installs the webhook and the reaper, or only the one that you name. Flags for that one can follow after --. Settings that need other objects or permissions are values of the Helm chart. It contacts no cluster, and the same call always prints the same text, so you can keep it in a repository.",
  page: "webhook",
  examples: [
    {
      call: "ebb manifests webhook --image registry.example.com/ebb:0.1.0",
      why: "To install, pipe the output into kubectl apply --server-side -f -; to remove, into kubectl delete --ignore-not-found -f -.",
    },
    {
      call: "ebb manifests webhook --image registry.example.com/ebb:0.1.0 -- --set drain=40s --registries docker.io",
      why: "Drains take up to 40 s, unless a pod sets another time. ebb also starts containers whose manifest has no command.",
    },
    {
      call: "ebb manifests reaper --image registry.example.com/ebb:0.1.0 -n mesh -- --all-jobs",
      why: "A reaper in the namespace mesh, for the pods of all Jobs.",
    },
  ],
  exits: [["0", "the manifests were printed"], badCall],
  seeAlso: ["webhook", "reaper", "install"],
  options,
  operands: components,
  main,
};

async function main({ args }: Invocation): Promise<number> {
  const call = readOperandCall(options, { args: expandShortFlags(args, kubectlShort), env: {} });
  const { values, operands, command: flags } = call;
  const named = operands.map(componentNamed);
  const chosen = components.filter((name) => named.length === 0 || named.includes(name));
  const image = expectImage(values.image);
  if (flags.length > 0 && chosen.length > 1)
    throw new Failure(EXIT.usage, "manifests: flags after -- are for one component: name webhook or reaper");
  const readsPullSecrets = flags.length > 0 && chosen.some((name) => checkFlags(name, image, flags));
  const { version } = await import("../../package.json");
  const strange = otherRelease(image, version);
  if (strange !== undefined) writeError(`ebb: ${strange}\n`);
  const { manifestOf } = await import("../cluster/manifests/manifests.ts");
  const title = `# Printed by ebb ${version}: ${["ebb", "manifests", ...args].map(quoted).join(" ")}`;
  const filling = { image, namespace: values.namespace, args: flags, readsPullSecrets };
  const texts = chosen.map((name) => manifestOf(name, filling));
  await writeContent([`${title.replaceAll("\n", "\n# ")}\n#\n`, ...texts].join(""));
  return EXIT.ok;
}

function componentNamed(name: string): ComponentName {
  const component = components.find((each) => each === name);
  if (component !== undefined) return component;
  const near = nearest(name, components);
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  throw new Failure(EXIT.usage, `manifests: expected ${components.join(", ")} or nothing, got "${name}"${hint}`);
}

/**
 * What of a program is no flag here, because it needs other objects or rights than the file has: for each option the
 * value of the chart that gives both.
 */
const inChart: Readonly<Record<ComponentName, Readonly<Record<string, string>>>> = {
  webhook: {
    all: "webhook.all",
    certDir: "webhook.certManager",
    registryConfig: "webhook.registrySecret",
    caFile: "webhook.registryCaConfigMap",
    name: "fullnameOverride",
  },
  reaper: {
    namespace: "reaper.reapNamespace",
    methods: "reaper.methods",
    dryRun: "reaper.dryRun",
    once: "reaper.schedule",
  },
};

/** What must fit other fields of the pod (volumes, ports, the grace period), and is no value of the chart, either. */
const inFile: readonly string[] = ["listen", "healthListen", "minDrain", "drain", "kubeconfig", "context"];

/**
 * Checks the flags of a program as the program does. Returns whether it may read the Secrets that pods name.
 * @throws Failure(64) for those that it would not take, or that need more than an argument
 */
function checkFlags(component: ComponentName, image: string, flags: readonly string[]): boolean {
  const given = { args: [`--image=${image}`, ...flags], env: {} };
  const { usage } = command;
  if (component === "webhook") {
    const call = readFlagCall(webhookOptions, given, usage);
    injectPolicyOf(call.values);
    expectArgumentsAlone(component, image, call);
    return call.values.pullSecrets;
  }
  const args = expandShortFlags(given.args, kubectlShort);
  const call = readFlagCall(reaperOptions, { ...given, args }, usage);
  usableMethods(call.values, call.origins.methods !== "default");
  expectArgumentsAlone(component, image, call);
  return false;
}

type ProgramCall = Pick<Call<typeof webhookOptions> | Call<typeof reaperOptions>, "values" | "origins">;

function expectArgumentsAlone(component: ComponentName, image: string, { values, origins }: ProgramCall): void {
  const all: Options = component === "webhook" ? webhookOptions : reaperOptions;
  const problems = Object.entries(all).flatMap(([key, { flag }]): readonly string[] => {
    if ((origins as Readonly<Record<string, string>>)[key] === "default") return [];
    const value = inChart[component][key];
    if (value !== undefined) return [`--${flag}: needs other objects or rights: set ${value} in the Helm chart`];
    if (inFile.includes(key)) return [`--${flag}: needs other fields in the Deployment: edit what is printed`];
    if (component === "webhook" && key === "namespace") return [`--${flag}: give it before --`];
    return key === "image" && values.image !== image ? [`--${flag}: give it before --`] : [];
  });
  if (problems.length > 0) throw new Failure(EXIT.usage, allOf(problems));
}

/** Returns a warning if the image's tag is another version than this ebb, whose flags and permissions may differ. */
function otherRelease(image: string, version: string): string | undefined {
  const [, tag] = /:v?(\d+\.\d+\.\d+)$/.exec(image) ?? [];
  if (tag === undefined || tag === version) return undefined;
  return `manifests: warning: the image is ${tag}, and this is ebb ${version}: print the manifests with ebb ${tag}`;
}

/** Quotes a word for a shell, if it needs that. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

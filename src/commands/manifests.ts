import { badCall, type Command, type Invocation } from "../command.ts";
import { type Call, readOperandCall } from "../core/cli/call.ts";
import { policyOf } from "../core/cli/cluster/injection-policy.ts";
import {
  ofLookUpsAlone,
  ofOwnCa,
  ofReaperAlone,
  ofWebhookAlone,
  installationOptions as options,
  passedOn,
  toReaper,
} from "../core/cli/cluster/installation-options.ts";
import { expandShortFlags, kubectlShort } from "../core/cli/short-flags.ts";
import { nearest } from "../core/cli/suggestion.ts";
import { allOf, EXIT, Failure } from "../core/run/exit.ts";
import type { Component, Installation } from "../kube/manifests/installation.ts";
import { writeContent } from "../system/output/content.ts";
import { writeError } from "../system/output/output.ts";

const components: readonly Component[] = ["webhook", "reaper"];

/** `ebb manifests` prints, as YAML, the objects that install ebb in a cluster. */
export const command: Command = {
  summary: "print what installs the webhook or the reaper, as YAML",
  usage: "manifests [flags] [webhook] [reaper]",
  about:
    "Prints the YAML that installs the webhook or the reaper: namespace, account and permissions, Deployment or CronJob, Service, registration. It asks no cluster, and the same call prints the same text: keep it in a repository. kubectl delete with that text removes the component, and nothing of the other one. A namespace given by --namespace stays. Options of injection go to the webhook, options of reaping to the reaper.",
  page: "webhook",
  examples: [
    {
      call: "ebb manifests --image registry.example.com/ebb:0.1.0",
      why: "To install, pipe it into kubectl apply --server-side -f -; to remove, into kubectl delete --ignore-not-found -f -.",
    },
    {
      call: "ebb manifests --image registry.example.com/ebb:0.1.0 --namespace-selector mesh=on --set drain=40s",
      why: "Only for pods of namespaces with the label mesh=on; 40 s to drain, unless a pod says otherwise.",
    },
    {
      call: "ebb manifests --image registry.example.com/ebb:0.1.0 --cert-manager --failure-policy Fail webhook",
      why: "Certificates by cert-manager. No pod that opted in starts without ebb.",
    },
    {
      call: "ebb manifests --image registry.example.com/ebb:0.1.0 --registries docker.io,registry.example.com --pull-secrets",
      why: "Pods without a command are started by ebb, too: these registries are asked what the images start.",
    },
    {
      call: "ebb manifests reaper --image registry.example.com/ebb:0.1.0 --reap-namespace shop,bank --methods port-forward",
      why: "A reaper for two namespaces, with rights only there, and none to exec or to change a pod.",
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
  const asked = [...call.operands, ...call.command].map(componentNamed);
  // the reaper has more rights than the webhook, so it is printed only if it was asked for
  const chosen = asked.length === 0 ? (["webhook"] as const) : components.filter((name) => asked.includes(name));
  expectOwnFlags(call, chosen);
  const installation = await installationOf(call);
  const strange = otherRelease(installation);
  if (strange !== undefined) writeError(`ebb: ${strange}\n`);
  const { printManifests } = await import("../kube/manifests/manifests.ts");
  await writeContent(printManifests(installation, chosen, args));
  return EXIT.ok;
}

function componentNamed(name: string): Component {
  const known = components.find((each) => each === name);
  if (known !== undefined) return known;
  const near = nearest(name, components);
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  throw new Failure(EXIT.usage, `manifests: expected ${components.join(", ")} or nothing, got "${name}"${hint}`);
}

const alone: Readonly<Record<Component, Partial<typeof options>>> = { webhook: ofWebhookAlone, reaper: ofReaperAlone };

/** Checks that each flag is for a component that is printed. @throws Failure(64) if a flag would change nothing */
function expectOwnFlags(call: Call<typeof options>, chosen: readonly Component[]): void {
  const idle = components.filter((name) => !chosen.includes(name));
  const problems = idle.flatMap((name) =>
    given(alone[name], call).map((flag) => `${flag} is for the ${name}: add the word ${name}, or leave it out`),
  );
  const { schedule } = call.values;
  if (chosen.includes("webhook") && !asksRegistries(call)) {
    const needless = given(ofLookUpsAlone, call).map(
      (flag) => `${flag}: no registry is asked; name some by --registries`,
    );
    problems.push(...needless);
  }
  if (schedule !== undefined && chosen.length === 1) {
    const { replicas, podMonitor } = options;
    for (const flag of given({ replicas, podMonitor }, call).map((word) => word.replace(/=.*/, ""))) {
      problems.push(`${flag}: with --schedule there are none; leave one of them out`);
    }
  }
  if (problems.length > 0) throw new Failure(EXIT.usage, allOf(problems));
}

function asksRegistries({ values: { registries, registryMirror } }: Call<typeof options>): boolean {
  return registries.length > 0 || registryMirror.length > 0; // a mirror is allowed by its name
}

/** Returns a warning if the image's tag is another version than this ebb, whose flags and permissions may differ. */
function otherRelease({ image, version }: Installation): string | undefined {
  const [, tag] = /:v?(\d+\.\d+\.\d+)$/.exec(image) ?? [];
  if (tag === undefined || tag === version) return undefined;
  return `manifests: warning: the image is ${tag}, and this is ebb ${version}: print the manifests with ebb ${tag}`;
}

/** Collects what is to be installed. @throws Failure(64) for options with which the webhook would not start */
async function installationOf(call: Call<typeof options>): Promise<Installation> {
  const { image } = policyOf(call.values);
  const { version } = await import("../../package.json");
  const flags = { passedOn: given(passedOn, call), ofOwnCa: given(ofOwnCa, call), toReaper: given(toReaper, call) };
  const { reapNamespace, ...values } = call.values;
  const asks = asksRegistries(call);
  return {
    ...values,
    image,
    version,
    ...flags,
    asksRegistries: asks,
    reapNamespaces: [...new Set(reapNamespace.flat())],
  };
}

/** Lists those of the flags that were given, as words of a command line. */
function given(flags: Partial<typeof options>, { values, texts, origins }: Call<typeof options>): readonly string[] {
  return Object.entries(flags).flatMap(([key, { flag, value }]) => {
    const name = key as keyof typeof options;
    if (origins[name] === "default") return [];
    if (value === undefined) return values[name] === true ? [`--${flag}`] : [];
    return texts[name].map((text) => `--${flag}=${text}`);
  });
}

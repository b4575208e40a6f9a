import { registryOptions } from "../cluster/image/core/registry-options.ts";
import { injectionOptions } from "../cluster/inject/core/injection-options.ts";
import { injectPolicyOf } from "../cluster/inject/core/injection-policy.ts";
import type { InjectPolicy } from "../cluster/inject/core/policy.ts";
import { badCall, type Command, type Invocation } from "../command.ts";
import { type Call, readOperandCall } from "../shared/cli/core/call.ts";
import { list, option } from "../shared/cli/core/option.ts";
import { optionsOf } from "../shared/cli/core/options.ts";
import { expandShortFlags } from "../shared/cli/core/short-flags.ts";
import { anyText, boolean } from "../shared/cli/core/syntax.ts";
import { EXIT, Failure } from "../shared/core/exit.ts";
import { createLog } from "../shared/output/log.ts";

const options = {
  filename: list({
    flag: "filename",
    group: "injection",
    value: "PATH",
    syntax: anyText,
    isFlagOnly: true,
    secret: false,
    help: "-f: a file with manifests, a folder of such files, or - for stdin (the default)",
    brief: "-f: a file, a folder, or - for stdin",
  }),
  recursive: option({
    flag: "recursive",
    group: "injection",
    initial: false,
    syntax: boolean,
    isFlagOnly: true,
    help: "-R: also read the folders inside a folder",
  }),
  ...injectionOptions,
  ...registryOptions,
  remove: option({
    flag: "remove",
    group: "injection",
    initial: false,
    syntax: boolean,
    isFlagOnly: true,
    help: "remove ebb from every injected pod, whatever its annotations say; needs no --image",
    brief: "remove ebb",
  }),
  inPlace: option({
    flag: "in-place",
    initial: false,
    syntax: boolean,
    isFlagOnly: true,
    help: "-i: change the files instead of printing to stdout",
    brief: "-i: change the files",
  }),
  strict: option({
    flag: "strict",
    initial: false,
    syntax: boolean,
    isFlagOnly: true,
    help: "if there is a warning, such as about an object whose pods ebb cannot change, change nothing and exit with 65",
  }),
  ...optionsOf("inject"),
};

/** The short flags, as kubectl has them. */
export const short = { f: "filename", R: "recursive", i: "in-place", q: "quiet" };

/**
 * `ebb inject` reads manifests, and writes them with ebb in their pods. What it does not change stays as it is, to the
 * byte.
 */
export const command: Command = {
  summary: "add ebb to the pods in manifests (YAML or JSON)",
  usage: "inject [flags] [FILE|FOLDER]...",
  examples: [
    {
      call: "ebb inject --image registry.example.com/ebb:0.1.0 deploy/ | kubectl apply -f -",
      why: "Applies all manifests in a folder to the cluster.",
    },
    {
      call: "ebb inject --image registry.example.com/ebb:0.1.0 --registries none --entrypoint 'web=/server --port 8080' --in-place web.yaml",
      why: "Changes the file itself. The manifest has no command, and instead of asking a registry, ebb takes /server --port 8080.",
    },
  ],
  exits: [
    ["0", "done"],
    badCall,
    [
      "65",
      "a manifest cannot be read, or a pod cannot be changed (with --strict: there is a warning); stderr says which, where and why",
    ],
    ["71", "a file cannot be read or written"],
  ],
  seeAlso: ["install", "run", "config"],
  options,
  operands: "files",
  main,
};

async function main({ args, env }: Invocation): Promise<number> {
  const call = readOperandCall(options, { args: expandShortFlags(args, short), env });
  const { values } = call;
  const paths = [...values.filename, ...call.operands, ...call.command];
  const order = {
    ...values,
    paths,
    policy: wantedPolicy(call),
    registries: values,
    isInPlace: isInPlace(call, paths),
    env,
    log: createLog({ logLevel: "info", logFormat: "text", quiet: values.quiet }, {}),
  };
  const { inject } = await import("../cluster/inject/inject.ts");
  await inject(order);
  return EXIT.ok;
}

/**
 * Returns how to inject; undefined with --remove. @throws Failure(64) if --remove comes with flags that then have no
 * effect
 */
function wantedPolicy({ values, origins }: Call<typeof options>): InjectPolicy | undefined {
  if (!values.remove) return injectPolicyOf(values);
  const idle = Object.entries({ ...injectionOptions, ...registryOptions, strict: options.strict }).filter(([key]) =>
    origins[key as keyof typeof options].startsWith("--"),
  );
  if (idle.length === 0) return undefined;
  const flags = idle.map(([, { flag }]) => `--${flag}`).join(", ");
  throw new Failure(EXIT.usage, `${flags}: not usable with --remove, which adds nothing: leave out ${flags}`);
}

function isInPlace({ values: { inPlace } }: Call<typeof options>, paths: readonly string[]): boolean {
  if (inPlace && (paths.length === 0 || paths.includes("-")))
    throw new Failure(EXIT.usage, "--in-place: expected files, not stdin: name them, or leave --in-place out");
  return inPlace;
}

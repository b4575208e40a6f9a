import { beginLog } from "../begin-log.ts";
import { withScope } from "../cluster/api/core/kubectl-options.ts";
import { doctorOptions as options } from "../cluster/doctor/core/doctor-options.ts";
import type { Command, Invocation } from "../command.ts";
import { readFlagCall } from "../shared/cli/core/call.ts";
import { expandShortFlags, kubectlShort } from "../shared/cli/core/short-flags.ts";

/** `ebb doctor` prints what of ebb in a cluster is not as it was asked for. */
export const command: Command = {
  summary: "find pods that should have ebb but do not, and why",
  usage: "doctor [flags]",
  examples: [
    { call: "ebb doctor", why: "The whole cluster." },
    { call: "ebb doctor -n shop -o json", why: "The pods of one namespace, for a script." },
  ],
  exits: [
    ["0", "no problem was found in what it may read"],
    ["1", "a problem was found"],
    ["64", "a bad flag, no kubeconfig, or no such namespace"],
    ["69", "the API server does not answer, or lets it read nothing"],
  ],
  seeAlso: ["webhook", "inject", "manifests"],
  options,
  main,
};

async function main({ args, env, signals }: Invocation): Promise<number> {
  const call = readFlagCall(options, { args: expandShortFlags(args, kubectlShort), env }, command.usage);
  const log = beginLog(call.values, { env });
  const { examineCluster } = await import("../cluster/doctor/doctor.ts");
  return await examineCluster(withScope(call.values), { env, log, signals });
}

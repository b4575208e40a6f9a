import { beginLog } from "../begin-log.ts";
import { withScope } from "../cluster/api/core/kubectl-options.ts";
import { type ReaperLimits, reaperLimits } from "../cluster/reaper/core/limits.ts";
import { usableMethods } from "../cluster/reaper/core/policy.ts";
import { reaperOptions as options } from "../cluster/reaper/core/reaper-options.ts";
import { badCall, type Command, type Invocation } from "../command.ts";
import { readFlagCall } from "../shared/cli/core/call.ts";
import { expandShortFlags, kubectlShort } from "../shared/cli/core/short-flags.ts";

/** `ebb reaper` ends the sidecars of pods whose app has ended, if nothing in the pod does. */
export const command: Command = {
  summary: "shut down sidecars that keep finished pods running, cluster-wide",
  usage: "reaper [--once] [flags]",
  examples: [
    {
      call: "ebb reaper --once --namespace shop --all-jobs --dry-run",
      why: "At a terminal, with your kubeconfig: which pods of the namespace are stuck, selected or not, and what would be done.",
    },
    {
      call: "ebb reaper --once --all-jobs --image registry.example.com/ebb:0.1.0",
      why: "In a CronJob: shuts down the sidecars of all finished Jobs, with an ephemeral container if nothing else works.",
    },
    {
      call: "ebb reaper --methods port-forward,ephemeral --image registry.example.com/ebb:0.1.0",
      why: "In a Deployment, without the right to exec.",
    },
  ],
  exits: [
    ["0", "a stop signal ended it; with --once: nothing is left to do"],
    badCall,
    ["69", "the API server does not answer, or refuses; with --once: a sidecar did not exit"],
    ["71", "cannot bind the listen address"],
  ],
  seeAlso: ["quit", "webhook", "manifests"],
  options,
  main,
};

export async function main({ args, env, signals }: Invocation, limits: ReaperLimits = reaperLimits): Promise<number> {
  const call = readFlagCall(options, { args: expandShortFlags(args, kubectlShort), env }, command.usage);
  const methods = usableMethods(call.values, call.origins.methods !== "default");
  const log = beginLog(call.values, { env });
  const reaper = await import("../cluster/reaper/reaper.ts");
  return await reaper.main({ ...withScope(call.values), ...limits }, { methods, env, log, signals });
}

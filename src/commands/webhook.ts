import { beginLog } from "../begin-log.ts";
import { injectPolicyOf } from "../cluster/inject/core/injection-policy.ts";
import { type WebhookLimits, webhookLimits } from "../cluster/webhook/core/webhook-limits.ts";
import { webhookOptions as options } from "../cluster/webhook/core/webhook-options.ts";
import { badCall, type Command, type Invocation } from "../command.ts";
import { readFlagCall } from "../shared/cli/core/call.ts";

/** `ebb webhook` changes pods as `ebb inject` does, when the API server asks for it. Serves until a stop signal. */
export const command: Command = {
  summary: "add ebb to pods when the API server creates them",
  usage: "webhook --image IMAGE [flags]",
  examples: [
    { call: "ebb webhook --image registry.example.com/ebb:0.1.0", why: "In the cluster: for pods that ask for ebb." },
    {
      call: "ebb webhook --image registry.example.com/ebb:0.1.0 --all --set drain=40s --cert-dir /certificates",
      why: "For all pods, with a drain of 40 s, and with cert-manager's certificate.",
    },
  ],
  exits: [
    ["0", "a stop signal ended it"],
    badCall,
    ["69", "the API server does not answer, so the certificates cannot be stored"],
    ["71", "cannot bind the listen address"],
  ],
  seeAlso: ["manifests"],
  options,
  main,
};

export async function main({ args, env, signals }: Invocation, limits: WebhookLimits = webhookLimits): Promise<number> {
  const call = readFlagCall(options, { args, env }, command.usage);
  const policy = injectPolicyOf(call.values);
  const log = beginLog(call.values, { env });
  const webhook = await import("../cluster/webhook/webhook.ts");
  return await webhook.main({ ...call.values, ...limits }, { policy, env, log, signals });
}

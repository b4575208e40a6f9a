import { describeTarget, withPath } from "../../shared/core/address.ts";
import type { Log } from "../../shared/output/log.ts";
import type { Sidecar } from "../../shared/sidecars/core/sidecar.ts";
import { connectAdmin, isAnswer } from "../envoy/admin.ts";
import { isAgentLeaving } from "./agent.ts";

/** Envoy's own quit, with which its agent ends, too (istio pkg/envoy/agent.go, Run). */
const QUIT = "/quitquitquit";

/** The kubelet stops all containers at once: an agent's SIGTERM comes no later than so long after the app's. */
export const TOGETHER_MS = 1000;
const LOOK_MS = 50;

/**
 * Ends the Envoys of agents that have got their SIGTERM, or get it within `withinMs`, and would sit out a drain of their
 * own, although the app has ended. `agents`: those that had not when the app started.
 */
export async function endLeaving(agents: readonly Sidecar[], withinMs: number, log: Log): Promise<void> {
  const end = performance.now() + withinMs;
  await Promise.all(
    agents.map(async (sidecar) => {
      while (!isAgentLeaving(sidecar)) {
        if (performance.now() >= end) return;
        await Bun.sleep(LOOK_MS);
      }
      await endEnvoy(sidecar, log);
    }),
  );
}

async function endEnvoy({ name, envoy }: Sidecar, log: Log): Promise<void> {
  if (envoy === undefined) return;
  using admin = connectAdmin(envoy, new AbortController().signal);
  const request = `POST ${describeTarget(withPath(envoy.admin, QUIT))}`;
  // without an answer it has ended by itself
  if (isAnswer(await admin.post(QUIT)))
    log.info({ sidecar: name, request }, "the agent only waits after its SIGTERM: asked its Envoy to exit");
}

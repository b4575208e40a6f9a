import { temporaryFolder } from "../../harness/ebb.ts";
import type { Mesh } from "../drain.ts";
import type { Pod } from "../pod.ts";
import type { Beside } from "../subject.ts";
import { type AgentOptions, initialize, startAgent } from "./agent.ts";
import { forwardTo, ports } from "./istiod.ts";

/** Returns Istio's sidecar, with its redirection. */
export function istioMesh(options: AgentOptions = {}): Mesh {
  return {
    title: `pilot-agent 1.31 (${options.interception ?? "REDIRECT"})`,
    sidecar: "istio",
    foundBy: /^port 1502[01]$/,
    env: {},
    ready: { at: "15021/healthz/ready", status: 200 },
    exitCode: 0,
    cutsQuitAnswer: true, // status/server.go, handleQuit: the process is told to exit before the answer is flushed
    quitOutcome: /^exited$/,
    secondQuit: { code: 0, outcome: /^its shutdown, readiness and admin ports refuse connections/ },
    isUpWhileHeld: true,
    appPort: ports.app,
    inboundPort: ports.app,
    outbound: { http: ports.outsideHttp, tcp: ports.outsideTcp, host: (pod) => pod.outside },
    start: (pod, isHeld = false) => startIstio(pod, isHeld, options),
  };
}

async function startIstio(pod: Pod, isHeld: boolean, options: AgentOptions): Promise<Beside> {
  const folder = temporaryFolder();
  await initialize(pod, options);
  if (!isHeld) await forwardTo(pod.outside);
  const container = await startAgent(pod, folder.path, options);
  void container.ended.then(() => folder[Symbol.dispose]());
  return { container, release: () => forwardTo(pod.outside) };
}

import { compiledProgram } from "../compile.ts";
import { startHeld } from "../held.ts";
import { programOf } from "../programs.ts";
import type { Subject } from "../subject.ts";

/** Returns the AlloyDB Auth Proxy, with a fake token and more flags. */
export function alloydbAuthProxy(more: readonly string[] = ["--quitquitquit"]) {
  const { path } = compiledProgram("alloydb-auth-proxy");
  const instance = "projects/p/locations/r/clusters/c/instances/i";
  return {
    title: `alloydb-auth-proxy ${programOf("alloydb-auth-proxy").version}`,
    sidecar: "alloydb-auth-proxy",
    foundBy: undefined,
    env: { EBB_SIDECAR: "alloydb-auth-proxy" },
    ready: { at: "9091/", status: 404 },
    exitCode: 0,
    cutsQuitAnswer: true, // cmd/root.go, quitquitquit: the command is told to end before the answer is flushed
    quitOutcome: /^exited$/,
    secondQuit: { code: 69, outcome: /^connection refused/ },
    isUpWhileHeld: false,
    start(pod, isHeld = false) {
      const command = [path, "--token", "fake", "--port", "5432", ...more, instance];
      return startHeld({ pod, command }, isHeld);
    },
  } as const satisfies Subject;
}

import { compiledProgram } from "../compile.ts";
import { startHeld } from "../held.ts";
import { programOf } from "../programs.ts";
import type { Subject } from "../subject.ts";

/** Returns the Cloud SQL Auth Proxy as its operator starts it, with a fake token and more flags. */
export function cloudSqlProxy(more: readonly string[] = ["--quitquitquit"]) {
  const { path } = compiledProgram("cloud-sql-proxy");
  return {
    title: `cloud-sql-proxy ${programOf("cloud-sql-proxy").version}`,
    sidecar: "cloud-sql-proxy",
    foundBy: /^CSQL_PROXY_QUIT_URLS$/,
    env: { CSQL_PROXY_QUIT_URLS: "http://localhost:9091/quitquitquit" },
    ready: { at: "9091/", status: 404 },
    exitCode: 0,
    cutsQuitAnswer: true, // cmd/root.go, quitquitquit: the command is told to end before the answer is flushed
    quitOutcome: /^exited$/,
    secondQuit: { code: 69, outcome: /^connection refused/ },
    isUpWhileHeld: false,
    start(pod, isHeld = false) {
      const command = [path, "--token", "fake", "--port", "5432", ...more, "project:region:instance"];
      return startHeld({ pod, command }, isHeld);
    },
  } as const satisfies Subject;
}

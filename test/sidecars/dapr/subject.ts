import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../harness/ebb.ts";
import { compiledProgram } from "../compile.ts";
import { startHeld } from "../held.ts";
import { type ProgramName, programOf } from "../programs.ts";
import type { Subject } from "../subject.ts";

interface More {
  readonly flags?: readonly string[];
  /** Variables of daprd's own container. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Returns daprd with the words of its injector (dapr, pkg/injector/patcher/sidecar_container.go) that do not need a
 * control plane.
 */
export function daprd(name: ProgramName, { flags: more = [], env = {} }: More = {}) {
  const { path } = compiledProgram(name);
  return {
    title: `${programOf(name).name} ${programOf(name).version}`,
    sidecar: "dapr",
    foundBy: /^DAPR_HTTP_PORT$/,
    env: { DAPR_HTTP_PORT: "3500" },
    ready: { at: "3500/v1.0/healthz/outbound", status: 204 },
    exitCode: 0,
    quitOutcome: /^its port is closed: it exits by itself when its graceful shutdown is over/,
    secondQuit: { code: 69, outcome: /^connection refused/ },
    isUpWhileHeld: false,
    start(pod, isHeld = false) {
      const folder = temporaryFolder();
      const resources = join(folder.path, "resources");
      mkdirSync(resources);
      const ports = ["--dapr-http-port", "3500", "--dapr-grpc-port", "50001", "--dapr-internal-grpc-port", "50002"];
      const flags = ["--app-id", "app", ...ports, "--dapr-listen-addresses", "[::1],127.0.0.1", "--log-as-json"];
      const command = [path, ...flags, "--resources-path", resources, ...more];
      return startHeld({ pod, command, options: { cwd: folder.path, env } }, isHeld);
    },
  } as const satisfies Subject;
}

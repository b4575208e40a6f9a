import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { collect, until } from "../harness/ebb.ts";
import type { Outcome } from "./podman.ts";

export interface Containerd extends AsyncDisposable {
  /** Runs ctr, containerd's own command-line tool, to its end. Resolves whatever its exit code is. */
  readonly ctr: (...words: readonly string[]) => Promise<Outcome>;
}

/** The plugins that this machine may lack or forbid, and that a container of one layer does not need. */
const disabled = [
  ...["grpc.v1.cri", "internal.v1.opt", "internal.v1.tracing", "tracing.processor.v1.otlp"],
  ...["aufs", "btrfs", "devmapper", "overlayfs", "zfs"].map((name) => `snapshotter.v1.${name}`),
].map((name) => `"io.containerd.${name}"`);

/** Starts a containerd apart from the machine's own; its images and containers end with it. Needs root. */
export async function startContainerd(): Promise<Containerd> {
  const folder = mkdtempSync("/run/ebb-containerd-"); // a socket wants a short path
  const config = join(folder, "config.toml");
  const socket = join(folder, "socket");
  writeFileSync(
    config,
    `version = 2
root = "${folder}/root"
state = "${folder}/state"
disabled_plugins = [${disabled}]
[grpc]
address = "${socket}"
[ttrpc]
address = "${socket}.ttrpc"
`,
  );
  const daemon = Bun.spawn(["containerd", "--config", config], { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const log = collect(daemon.stderr);
  const ctr = async (...words: readonly string[]): Promise<Outcome> => {
    const command = Bun.spawn(["ctr", "--address", socket, ...words], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = [collect(command.stdout), collect(command.stderr)];
    const code = await command.exited;
    await Promise.all([stdout.done, stderr.done]);
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  };
  const isUp = async (): Promise<boolean> => {
    if (daemon.exitCode !== null) throw new Error(`containerd ended: ${log.text()}`);
    return spawnSync("ctr", ["--address", socket, "version"]).status === 0;
  };
  await until("containerd is up", isUp, 60_000);
  return {
    ctr,
    async [Symbol.asyncDispose]() {
      daemon.kill("SIGTERM");
      await daemon.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

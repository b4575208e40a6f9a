import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { envoyMissing, envoyPath } from "../../build/setup/envoy.mjs";
import { temporaryFolder, until } from "../harness/ebb.ts";
import { freePort } from "../harness/free-port.ts";
import { type AdminAddress, configurationOf, type Plan } from "./bootstrap.ts";

export interface EnvoyOptions extends Omit<Plan, "admin" | "from"> {
  /** By default a port of 127.0.0.1 that is free, and stays so when Envoy has ended. */
  readonly admin?: AdminAddress;
  /** The flags of its hot restart; by default it has none. */
  readonly hotRestart?: readonly string[];
  /** More flags for Envoy. */
  readonly flags?: readonly string[];
  /** Whether listeners and clusters come from files, as from a control plane; by default so if it is like Istio's. */
  readonly isDynamic?: boolean;
}

/** An Envoy that runs and whose admin interface is open; it need not be LIVE. */
export interface Envoy extends AsyncDisposable {
  readonly pid: number;
  /** The value for --admin. */
  readonly admin: string;
  /** The URL of its first listener, which sends everything on to the upstream. */
  readonly url: string;
  /** Returns the port on 127.0.0.1 of a listener, by its name. */
  portOf(listener: string): number;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with its exit code when it has ended; 128+n if signal n ended it. */
  readonly ended: Promise<number>;
  isRunning(): boolean;
}

/**
 * Starts a real Envoy; `await using` it. Resolves once its admin interface is open and, without `waitsFor`, it has all
 * listeners. Rejects with its log if it ends before, or if Envoy is not installed.
 */
export async function startEnvoy(options: EnvoyOptions): Promise<Envoy> {
  const { flags: more = [], isDynamic = options.isLikeIstio, listenerPort = 0, waitsFor } = options;
  const { hotRestart = ["--disable-hot-restart"] } = options;
  const folder = temporaryFolder();
  const at = (name: string) => join(folder.path, name);
  const admin = options.admin ?? { host: "127.0.0.1", port: await freePort() };
  const plan = { ...options, admin, ...(isDynamic === true && { from: folder.path }) };
  const { bootstrap, listeners, clusters } = configurationOf(plan);
  writeFileSync(at("envoy.json"), JSON.stringify(bootstrap));
  writeFileSync(at("listeners.json"), JSON.stringify({ resources: listeners }));
  writeFileSync(at("clusters.json"), JSON.stringify({ resources: clusters }));
  const flags = [...hotRestart, "--concurrency", "1", "--log-level", "warning", "--log-path", at("log")];
  const files = ["--config-path", at("envoy.json"), "--admin-address-path", at("admin")];
  const envoy = Bun.spawn([executable(), ...flags, ...files, ...more], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  const stop = async (): Promise<void> => {
    envoy.kill("SIGKILL");
    await envoy.exited;
    folder[Symbol.dispose]();
  };
  try {
    const target = await until("Envoy's admin interface", () => adminOf(envoy, at));
    const ports = await until("its listeners", async () => {
      const found = await listenerPortsOf(target);
      return (found.size >= listeners.length || waitsFor !== undefined) && found;
    });
    return {
      pid: envoy.pid,
      admin: target.unix === undefined ? target.url : `unix:${target.unix}`,
      url: `http://127.0.0.1:${listenerPort || ports.values().next().value}`,
      portOf: (listener) => ports.get(listener) as number,
      kill: (signal) => envoy.kill(signal),
      ended: envoy.exited,
      isRunning: () => envoy.exitCode === null && envoy.signalCode === null,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function executable(): string {
  const path = envoyPath();
  if (path === undefined) throw new Error(envoyMissing);
  return path;
}

interface AdminTarget {
  readonly url: string;
  readonly unix?: string;
}

/**
 * Returns the admin address that Envoy has written to its file: `127.0.0.1:PORT`, `[::1]:PORT` or `/path`; undefined as
 * long as it has not. @throws Error with its log if it has ended
 */
function adminOf(envoy: Bun.Subprocess, at: (name: string) => string): AdminTarget | undefined {
  if (envoy.exitCode !== null) throw new Error(`Envoy ended with ${envoy.exitCode}: ${readIfThere(at("log"))}`);
  const address = readIfThere(at("admin"));
  if (address === "") return undefined;
  return address.startsWith("/") ? { url: "http://localhost", unix: address } : { url: `http://${address}` };
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // not written yet
  }
}

/** Returns the ports by the listeners' names, in the configuration's order. */
async function listenerPortsOf({ url, unix }: AdminTarget): Promise<ReadonlyMap<string, number>> {
  const answer = await fetch(`${url}/listeners?format=json`, unix === undefined ? {} : { unix });
  const { listener_statuses: statuses = [] } = (await answer.json()) as Listeners;
  return new Map(statuses.map((each) => [each.name, each.local_address.socket_address.port_value]));
}

interface Listeners {
  readonly listener_statuses?: readonly {
    readonly name: string;
    readonly local_address: { readonly socket_address: { readonly port_value: number } };
  }[];
}

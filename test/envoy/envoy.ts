import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { envoyMissing, envoyPath } from "../../build/setup/envoy.mjs";
import { temporaryFolder, until } from "../harness.ts";
import { type AdminAddress, configurationOf, istioStats, type ListenerPlan, type Plan } from "./bootstrap.ts";
import type { ControlPlane } from "./servers.ts";

export interface EnvoyOptions {
  readonly upstreamPort: number;
  /** Without it, any port of 127.0.0.1. */
  readonly admin?: AdminAddress;
  readonly listenerPort?: number;
  /** Without it one, HTTP, to the upstream. */
  readonly listeners?: readonly ListenerPlan[];
  /** More of Envoy's flags. */
  readonly flags?: readonly string[];
  readonly allowPaths?: readonly string[];
  /** Its listeners and clusters come as from a control plane. */
  readonly isDynamic?: boolean;
  /** Clusters as Istio has them, and no more statistics than it shows by default; all of it comes as from a control plane. */
  readonly isLikeIstio?: boolean;
  /** The patterns of the statistics that are shown. */
  readonly shows?: readonly object[];
  /** So many outbound listeners more, on no port. */
  readonly unbound?: number;
  readonly waitsFor?: ControlPlane;
}

/** An Envoy that runs, its admin interface open: not necessarily LIVE. */
export interface Envoy extends AsyncDisposable {
  readonly pid: number;
  /** For --admin. */
  readonly admin: string;
  /** Where its first listener is, which sends everything on to the upstream. */
  readonly url: string;
  /** The port on 127.0.0.1 of a listener. */
  portOf(listener: string): number;
  kill(signal: NodeJS.Signals): void;
  /** Its exit code once it is gone; as a shell has it, 128+n, where signal n ended it. */
  readonly ended: Promise<number>;
  isRunning(): boolean;
}

/** Starts Envoy; `await using` it. Resolves once its admin interface is open. @throws Error with its log where it ends before */
export async function startEnvoy(options: EnvoyOptions): Promise<Envoy> {
  const { upstreamPort, admin = { host: "127.0.0.1", port: 0 }, listenerPort = 0, waitsFor, unbound = 0 } = options;
  const folder = temporaryFolder();
  const at = (name: string) => join(folder.path, name);
  const { isLikeIstio = false, isDynamic = isLikeIstio, shows = isLikeIstio ? istioStats : undefined } = options;
  const plan: Plan = {
    ...{ admin, listenerPort, upstreamPort, isLikeIstio, unbound },
    ...(isDynamic ? { from: folder.path } : {}),
    ...(shows === undefined ? {} : { shows }),
    ...(options.listeners === undefined ? {} : { listeners: options.listeners }),
    ...(options.allowPaths === undefined ? {} : { allowPaths: options.allowPaths }),
    ...(waitsFor === undefined ? {} : { waitsFor: { what: waitsFor.what, controlPlanePort: waitsFor.port } }),
  };
  const { bootstrap, listeners, clusters } = configurationOf(plan);
  writeFileSync(at("envoy.json"), JSON.stringify(bootstrap));
  writeFileSync(at("listeners.json"), JSON.stringify({ resources: listeners }));
  writeFileSync(at("clusters.json"), JSON.stringify({ resources: clusters }));
  const flags = ["--disable-hot-restart", "--concurrency", "1", "--log-level", "warning", "--log-path", at("log")];
  const files = ["--config-path", at("envoy.json"), "--admin-address-path", at("admin")];
  const envoy = Bun.spawn([executable(), ...flags, ...files, ...(options.flags ?? [])], {
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

/** What Envoy has written of its admin address: `127.0.0.1:PORT`, `[::1]:PORT` or `/path`; undefined while it has not. */
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

/** By the listener's name, in the configuration's order. */
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

/** A port of 127.0.0.1 where nobody listens, for what must be named before it is there. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

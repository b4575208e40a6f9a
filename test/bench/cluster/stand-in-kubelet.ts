// A node without a kubelet, in a cluster of which only the API server runs: what a kubelet would say of its pods is
// written by the bench, and a request through port-forward reaches a stand-in.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ApiClient } from "../../../src/cluster/api/client.ts";
import { network } from "../../cluster/rig/place.ts";
import { inParallel, until } from "../../harness/ebb.ts";

export const NAMESPACE = "default";
export const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;
export const NODE = "stand-in";
/** The file with the credentials of the API server's admin. */
export const kubeconfig = process.env.KUBECONFIG as string;
/** The limit of whatever is waited for. */
export const LONG_MS = 900_000;
const AT_ONCE = 16;

/** Creates a node at which the API server finds the stand-in for a kubelet, and the account that pods need. */
export async function prepare(api: ApiClient, port: number): Promise<void> {
  const account = `/api/v1/namespaces/${NAMESPACE}`;
  await until("the namespace", () => api.get(account).catch(() => undefined), LONG_MS);
  await api.create(`${account}/serviceaccounts`, { metadata: { name: "default" } });
  await api.create("/api/v1/nodes", { metadata: { name: NODE } });
  const status = {
    addresses: [{ type: "InternalIP", address: network.node }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  await api.patch(`/api/v1/nodes/${NODE}/status`, [{ op: "replace", path: "/status", value: status }]);
}

/**
 * Starts a stand-in for a kubelet, and returns its port. `opened` is called for each port-forward, and `tell` with the
 * pod's name when a request has come through it.
 */
export function startKubelet(tell: (name: string) => Promise<void>, opened: () => void): number {
  const pki = (file: string): string => readFileSync(join(kubeconfig, "..", "pki", file), "utf8");
  const server = Bun.serve<{ readonly name: string; readonly port: number }>({
    hostname: network.node,
    port: 0,
    tls: { cert: pki("kubelet.crt"), key: pki("kubelet.key") },
    fetch(request, server) {
      const { pathname, searchParams } = new URL(request.url);
      const [, name] = /^\/portForward\/[^/]+\/([^/]+)/.exec(pathname) ?? [];
      const protocol = request.headers.get("sec-websocket-protocol");
      if (name === undefined || protocol === null) return new Response(pathname, { status: 404 });
      const data = { name, port: Number(searchParams.get("port")) };
      const headers = { "sec-websocket-protocol": protocol };
      return server.upgrade(request, { data, headers }) ? undefined : new Response("no upgrade", { status: 400 });
    },
    websocket: {
      open(socket) {
        opened();
        const { port } = socket.data;
        for (const channel of [0, 1]) socket.sendBinary(Buffer.of(channel, port & 255, port >> 8));
      },
      async message(socket) {
        await tell(socket.data.name);
        socket.sendBinary(Buffer.from("\u0000HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nOK\n"));
        socket.close();
      },
    },
  });
  return server.port as number;
}

/** Writes a pod's status, as a kubelet does. */
export async function setStatus(api: ApiClient, name: string, value: object): Promise<void> {
  await api.patch(`${PODS}/${name}/status`, [{ op: "replace", path: "/status", value }]);
}

/** Deletes a pod at once, by its eviction: ebb deletes nothing, so its client cannot. */
export async function deletePod(api: ApiClient, name: string): Promise<void> {
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name } };
  await api.create(`${PODS}/${name}/eviction`, { ...eviction, deleteOptions: { gracePeriodSeconds: 0 } });
}

/** When the containers of all pods have started. */
export const STARTED_AT = "2026-01-01T00:00:00Z";

/** What runs of a pod: its app and its sidecar, only the sidecar, or nothing. */
type Stage = "all" | "sidecar" | "nothing";

/** Returns the status of a pod with the containers `app` and `envoy`. The app ended at `finishedAt`. */
export function statusOf(stage: Stage, finishedAt: string): object {
  const startedAt = STARTED_AT;
  const running = { running: { startedAt } };
  const terminated = { terminated: { exitCode: 0, reason: "Completed", startedAt, finishedAt } };
  const container = (name: string, state: object) => ({
    ...{ name, state, image: name, imageID: name, restartCount: 0, ready: false },
  });
  return {
    phase: stage === "nothing" ? "Succeeded" : "Running",
    startTime: startedAt,
    containerStatuses: [
      container("app", stage === "all" ? running : terminated),
      container("envoy", stage === "nothing" ? terminated : running),
    ],
  };
}

/** Does the work for each name, 16 at a time. */
export async function each(names: readonly string[], work: (name: string) => Promise<unknown>): Promise<void> {
  await inParallel(names, work, AT_ONCE);
}

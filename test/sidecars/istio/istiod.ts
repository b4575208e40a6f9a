import { afterAll, beforeAll } from "bun:test";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { temporaryFolder, until } from "../../harness/ebb.ts";
import { compiledProgram } from "../compile.ts";

/** istiod's port without TLS, by which pilot-agent knows that it needs none. */
const port = 15010;

/** The ports of the app of each pod, and of the servers outside the pods. */
export const ports = { app: 8080, outsideHttp: 9000, outsideTcp: 9001, outsideGrpc: 9002 };

/** Has istiod run during the tests of a file. */
export function besideIstiod(): void {
  let istiod: AsyncDisposable;
  beforeAll(async () => {
    istiod = await startIstiod();
  });
  afterAll(() => istiod[Symbol.asyncDispose]());
}

/**
 * Starts istiod with a configuration from files: a service whose endpoints are the pods, and one whose endpoint is
 * outside. It is as installed, but without what the Envoy of PyPI lacks (Istio's own filters), and without a CA, so
 * without mutual TLS. Resolves once it is ready.
 */
async function startIstiod(): Promise<AsyncDisposable> {
  const folder = temporaryFolder();
  const at = (name: string): string => join(folder.path, name);
  await Bun.write(at("config/all.yaml"), configuration());
  await Bun.write(at("mesh.yaml"), "{}\n");
  const apiPort = 8001;
  await Bun.write(at("kubeconfig"), kubeconfig(`http://127.0.0.1:${apiPort}`));
  const stdio = ["ignore", "ignore", "ignore"] as const;
  const api = Bun.spawn([process.execPath, join(import.meta.dirname, "empty-api.ts"), `${apiPort}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await api.stdout.getReader().read(); // it listens
  const flags = ["--configDir", at("config"), "--meshConfig", at("mesh.yaml"), "--kubeconfig", at("kubeconfig")];
  const words = [
    "discovery",
    ...flags,
    "--grpcAddr",
    `127.0.0.1:${port}`,
    "--httpsAddr",
    "",
    "--secureGRPCAddr",
    "",
    "--log_target",
    at("log"),
  ];
  const istiod = Bun.spawn([compiledProgram("pilot-discovery").path, ...words], { env: settings, stdio: [...stdio] });
  await until("istiod is ready", isReady, 20_000);
  return {
    async [Symbol.asyncDispose]() {
      for (const program of [istiod, api]) program.kill("SIGKILL");
      await Promise.all([istiod.exited, api.exited]);
      folder[Symbol.dispose]();
    },
  };
}

/** Forwards istiod's port on an address of the test's, so that a pod can reach istiod. */
export async function forwardTo(host: string): Promise<void> {
  const server = createServer((socket) => {
    const there = connect(port, "127.0.0.1");
    for (const each of [socket, there]) each.on("error", () => undefined);
    socket.pipe(there).pipe(socket);
  });
  server.unref();
  await new Promise<void>((listening) => server.listen(port, host, listening));
}

/** Returns istiod's address, as pods are told it. */
export function discoveryAddress(host: string): string {
  return `${host}:${port}`;
}

const settings = {
  POD_NAMESPACE: "istio-system",
  ENABLE_CA_SERVER: "false",
  PILOT_ENABLE_METADATA_EXCHANGE: "false",
  PILOT_ENABLE_ALPN_FILTER: "false",
};

async function isReady(): Promise<boolean> {
  try {
    return (await fetch("http://127.0.0.1:8080/ready")).ok;
  } catch {
    return false; // it does not listen yet
  }
}

function configuration(): string {
  const pods = Array.from({ length: 250 }, (_, index) => `198.19.${index + 1}`);
  return [
    resource("security.istio.io", "PeerAuthentication", "istio-system", "default", { mtls: { mode: "DISABLE" } }),
    serviceEntry("app", {
      ports: [{ number: ports.app, name: "http", protocol: "HTTP" }],
      endpoints: pods.map((network) => ({ address: `${network}.2` })),
    }),
    serviceEntry("outside", {
      addresses: ["198.18.0.9"],
      ports: [
        { number: ports.outsideHttp, name: "http", protocol: "HTTP" },
        { number: ports.outsideTcp, name: "tcp", protocol: "TCP" },
        { number: ports.outsideGrpc, name: "grpc", protocol: "GRPC" },
      ],
      endpoints: pods.map((network) => ({ address: `${network}.1` })),
    }),
  ].join("---\n");
}

function serviceEntry(name: string, spec: object): string {
  const more = { hosts: [`${name}.default.svc.cluster.local`], location: "MESH_INTERNAL", resolution: "STATIC" };
  return resource("networking.istio.io", "ServiceEntry", "default", name, { ...more, ...spec });
}

function resource(group: string, kind: string, namespace: string, name: string, spec: object): string {
  return `${JSON.stringify({ apiVersion: `${group}/v1`, kind, metadata: { name, namespace }, spec })}\n`;
}

function kubeconfig(server: string): string {
  const [cluster, user] = [{ server }, {}];
  const contexts = [{ name: "all", context: { cluster: "all", user: "all" } }];
  const named = { clusters: [{ name: "all", cluster }], users: [{ name: "all", user }], contexts };
  return JSON.stringify({ apiVersion: "v1", kind: "Config", "current-context": "all", ...named });
}

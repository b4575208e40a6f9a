import { expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { connect as connectTo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { ebb, temporaryFolder } from "../../harness/ebb.ts";
import { listen } from "../../harness/free-port.ts";
import { images, type Namespace, namespace } from "../cluster.ts";
import { kubectl } from "../kubectl.ts";
import { exitCodeOf, podOf, statusOf } from "../objects.ts";

// `ebb reaper --once` by each way of a kubeconfig: requests over HTTPS, and exec over a WebSocket, which Bun opens in its own way.

interface Given {
  readonly server: string;
  /** base64 */
  readonly caData: string;
  readonly token: string;
  readonly proxy: string;
  /** Of who runs the tests. */
  readonly own: Readonly<Record<string, string>>;
}

interface Way {
  readonly cluster: object;
  readonly user: object;
}

const ways: Readonly<Record<string, (given: Given) => Way>> = {
  "client-certificate": ({ caData, own }) => ({ cluster: { "certificate-authority-data": caData }, user: own }),
  "certificate-files": () => ({
    cluster: { "certificate-authority": "ca.crt" },
    user: { "client-certificate": "own.crt", "client-key": "own.key" },
  }),
  token: ({ caData, token }) => ({ cluster: { "certificate-authority-data": caData }, user: { token } }),
  "token-file": () => ({ cluster: { "certificate-authority": "ca.crt" }, user: { tokenFile: "token" } }),
  "exec-plugin": ({ caData }) => ({ cluster: { "certificate-authority-data": caData }, user: pluginOf("token.json") }),
  "exec-plugin-certificate": ({ caData }) => ({
    cluster: { "certificate-authority-data": caData },
    user: pluginOf("certificate.json"),
  }),
  "server-name": ({ caData, token }) => ({
    cluster: { "certificate-authority-data": caData, "tls-server-name": "kubernetes.default.svc" },
    user: { token },
  }),
  "no-verification": ({ token }) => ({ cluster: { "insecure-skip-tls-verify": true }, user: { token } }),
  impersonation: ({ caData, own }) => ({
    cluster: { "certificate-authority-data": caData },
    user: { ...own, as: "someone", "as-groups": ["system:masters"] },
  }),
  proxy: ({ caData, token, proxy }) => ({
    cluster: { "certificate-authority-data": caData, "proxy-url": proxy },
    user: { token },
  }),
  "proxy-and-certificate": ({ caData, own, proxy }) => ({
    cluster: { "certificate-authority-data": caData, "proxy-url": proxy },
    user: own,
  }),
};

function pluginOf(credential: string): object {
  const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "./plugin", args: [credential] };
  return { exec: { ...exec, interactiveMode: "Never" } };
}

interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** How many tunnels were asked for. */
  readonly tunnels: number;
}

/** An HTTP proxy that knows CONNECT, with a user and a password. */
async function startProxy(): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let tunnels = 0;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
  };
  const server = createServer((client) => {
    keep(client).once("data", (head) => {
      const [, host = "", port = ""] = /^CONNECT (\S+):(\d+) HTTP/.exec(String(head)) ?? [];
      const isKnown = /^proxy-authorization: basic dTpw\r$/im.test(String(head));
      if (!isKnown || port === "") return void client.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
      tunnels += 1;
      const far = keep(connectTo(Number(port), host));
      far.once("connect", () => {
        client.write("HTTP/1.1 200 OK\r\n\r\n");
        client.pipe(far).pipe(client);
      });
      far.once("close", () => client.destroy());
      client.once("close", () => far.destroy());
    });
  });
  const port = await listen(server);
  return {
    url: `http://u:p@127.0.0.1:${port}`,
    get tunnels() {
      return tunnels;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** An account that may do what the reaper does, and what kubeconfigs are made of, in files too. */
async function arrange(here: Namespace, folder: string, proxy: string): Promise<Given> {
  await here.kubectl("create", "serviceaccount", "reaper");
  await here.kubectl(
    "create",
    "rolebinding",
    "reaper",
    "--clusterrole=cluster-admin",
    `--serviceaccount=${here.name}:reaper`,
  );
  const token = (await here.kubectl("create", "token", "reaper")).trim();
  const config = JSON.parse(await kubectl(["config", "view", "--raw", "--minify", "--flatten", "-o", "json"]));
  const own: Given["own"] = config.users[0].user;
  const { server, "certificate-authority-data": caData } = config.clusters[0].cluster;
  const decoded = (data = "") => Buffer.from(data, "base64").toString();
  const [certificate, key] = [decoded(own["client-certificate-data"]), decoded(own["client-key-data"])];
  const credential = (status: object) =>
    JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status });
  const files = {
    "ca.crt": decoded(caData),
    "own.crt": certificate,
    "own.key": key,
    token: `${token}\n`,
    "token.json": credential({ token }),
    "certificate.json": credential({ clientCertificateData: certificate, clientKeyData: key }),
    plugin: '#!/bin/sh\ncat "$(dirname "$0")/$1"\n',
  };
  for (const [name, text] of Object.entries(files)) await Bun.write(join(folder, name), text);
  chmodSync(join(folder, "plugin"), 0o755);
  return { server, caData, token, proxy, own };
}

const UNTIL_TERM = "process.on('SIGTERM', () => process.exit(0)); setInterval(() => undefined, 1e6)";

/** A pod whose app has ended; what is started in its sidecar ends that. */
function stuckPod(way: string) {
  const annotations = {
    "ebb.dev/reap": "true",
    "ebb.dev/sidecars": "helper",
    "ebb.dev/reap-exec.helper": JSON.stringify(["/bun", "-e", "process.kill(1, 'SIGTERM')"]),
  };
  const containers = [
    { name: "app", image: images.app, args: ["exit", "0"] },
    { name: "helper", image: images.bun, command: ["/bun", "-e", UNTIL_TERM] },
  ];
  return podOf(way, { containers, terminationGracePeriodSeconds: 1 }, { annotations, labels: { way } });
}

test("exec works by each of them", async () => {
  await using here = await namespace();
  await using proxy = await startProxy();
  using folder = temporaryFolder();
  const given = await arrange(here, folder.path, proxy.url);
  const hasCertificate = given.own["client-certificate-data"] !== undefined; // else this cluster is entered by other meanss
  const needsCertificate = /certificate|impersonation/;
  const names = Object.keys(ways).filter((name) => hasCertificate || !needsCertificate.test(name));
  await here.apply(names.map(stuckPod));
  const reap = async (name: string) => {
    await here.until(`${name} is stuck`, async () => {
      const pod = await here.pod(name);
      return exitCodeOf(pod, "app") === 0 && statusOf(pod, "helper")?.state.running !== undefined;
    });
    const { cluster, user } = (ways[name] as (typeof ways)[string])(given);
    const kubeconfig = join(folder.path, `${name}.kubeconfig`);
    const clusters = [{ name: "c", cluster: { server: given.server, ...cluster } }];
    const contexts = [{ name: "x", context: { cluster: "c", user: "u" } }];
    await Bun.write(
      kubeconfig,
      JSON.stringify({ clusters, contexts, users: [{ name: "u", user }], "current-context": "x" }),
    );
    const flags = [
      "--namespace",
      here.name,
      "--selector",
      `way=${name}`,
      "--methods",
      "exec",
      "--allow-reap-exec",
      "--after",
      "0s",
      "--json",
    ];
    const { code, stdout, stderr } = await ebb(["reaper", "--once", "--kubeconfig", kubeconfig, ...flags]);
    if (code !== 0) throw new Error(`${name}: exit code ${code}\n${stdout}${stderr}`);
    const [row] = JSON.parse(stdout) as [{ result: string; why: string }];
    return [name, row.result] as const;
  };
  const done = await Promise.all(names.map(reap));
  expect(done).toEqual(names.map((name) => [name, "ended"]));
  for (const name of names) {
    await here.until(`${name} is over`, async () => (await here.pod(name)).status.phase === "Succeeded");
  }
  expect(proxy.tunnels).toBeGreaterThanOrEqual(hasCertificate ? 4 : 2); // requests, and a stream of its own
});

import { expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { connect } from "../../../src/kube/api/client.ts";
import { temporaryFolder } from "../../harness.ts";
import { collectLog } from "../../kube/collect-log.ts";
import { namespace } from "../cluster.ts";
import { kubectl } from "../kubectl.ts";

// Each way in which a kubeconfig says how to reach the API server, and as whom, against a real one.

interface Given {
  readonly server: string;
  readonly ca: string;
  /** base64 */
  readonly caData: string;
  readonly token: string;
  readonly folder: string;
  /** Of who runs the tests, if it is by a client certificate. */
  readonly own: Readonly<Record<string, string>>;
}

interface Way {
  readonly cluster: object;
  readonly user: object;
}

const ways: Readonly<Record<string, (given: Given) => Way>> = {
  "a token and a CA, inline": ({ caData, token }) => ({
    cluster: { "certificate-authority-data": caData },
    user: { token },
  }),
  "both in files": ({ ca }) => ({ cluster: { "certificate-authority": ca }, user: { tokenFile: "token" } }),
  "an exec plugin": ({ caData }) => ({
    cluster: { "certificate-authority-data": caData },
    user: { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "./plugin", interactiveMode: "Never" } },
  }),
  "another name than the address's": ({ caData, token }) => ({
    cluster: { "certificate-authority-data": caData, "tls-server-name": "kubernetes.default.svc" },
    user: { token },
  }),
  "no verification": ({ token }) => ({ cluster: { "insecure-skip-tls-verify": true }, user: { token } }),
};

/** A kubeconfig of a ServiceAccount, and what it is made of. */
async function arrange(folder: string, account: string, name: string): Promise<Given> {
  const token = (await kubectl(["create", "token", account, "--namespace", name])).trim();
  const config = JSON.parse(await kubectl(["config", "view", "--raw", "--minify", "--flatten", "-o", "json"]));
  const caData: string = config.clusters[0].cluster["certificate-authority-data"];
  const ca = join(folder, "ca.crt");
  await Bun.write(ca, Buffer.from(caData, "base64"));
  await Bun.write(join(folder, "token"), `${token}\n`);
  const credential = { apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: { token } };
  await Bun.write(join(folder, "plugin"), `#!/bin/sh\necho '${JSON.stringify(credential)}'\n`);
  chmodSync(join(folder, "plugin"), 0o755);
  return { server: config.clusters[0].cluster.server, ca, caData, token, folder, own: config.users[0].user };
}

/** Who the API server says that one is. */
async function whoIs({ folder, server }: Given, { cluster, user }: Way, context: string): Promise<string> {
  const path = join(folder, `${context}.kubeconfig`);
  const clusters = [{ name: "c", cluster: { server, ...cluster } }];
  const contexts = [{ name: context, context: { cluster: "c", user: "u" } }];
  await Bun.write(path, JSON.stringify({ clusters, contexts, users: [{ name: "u", user }] }));
  const api = await connect({ env: {}, kubeconfig: path, context }, collectLog());
  const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  type Review = { readonly status: { readonly userInfo: { readonly username: string } } };
  const { status } = await api.create<Review>("/apis/authentication.k8s.io/v1/selfsubjectreviews", review);
  return status.userInfo.username;
}

test("each way of a kubeconfig leads to the API server, as who it says", async () => {
  await using here = await namespace();
  using folder = temporaryFolder();
  await here.kubectl("create", "serviceaccount", "someone");
  const given = await arrange(folder.path, "someone", here.name);
  const someone = `system:serviceaccount:${here.name}:someone`;
  const seen: [string, string][] = [];
  for (const [name, way] of Object.entries(ways)) seen.push([name, await whoIs(given, way(given), `x${seen.length}`)]);
  expect(seen).toEqual(Object.keys(ways).map((name) => [name, someone]));
});

test("a client's certificate, inline and in files; with it another's name", async () => {
  using folder = temporaryFolder();
  await using here = await namespace();
  const given = await arrange(folder.path, "default", here.name);
  const { "client-certificate-data": cert, "client-key-data": key } = given.own;
  if (cert === undefined || key === undefined) return; // this cluster is entered by other means
  await Bun.write(join(folder.path, "own.crt"), Buffer.from(cert, "base64"));
  await Bun.write(join(folder.path, "own.key"), Buffer.from(key, "base64"));
  const cluster = { "certificate-authority-data": given.caData };
  const inline = await whoIs(given, { cluster, user: given.own }, "inline");
  const user = { "client-certificate": "own.crt", "client-key": "own.key" };
  expect(inline).not.toBe("system:anonymous");
  expect(await whoIs(given, { cluster, user }, "files")).toBe(inline);
  expect(await whoIs(given, { cluster, user: { ...user, as: "somebody-else" } }, "as")).toBe("somebody-else");
});

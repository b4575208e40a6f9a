import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findAccess } from "../../../../src/cluster/api/access.ts";
import { ApiError } from "../../../../src/cluster/api/api-error.ts";
import { createApiClient } from "../../../../src/cluster/api/client.ts";
import { issueServing } from "../../../../src/cluster/certificates/issue.ts";
import { temporaryFolder } from "../../../harness/ebb.ts";
import { collectLog } from "../collect-log.ts";
import { ask, authority, ca, kubeconfig, life, plugin } from "./kubeconfigs.ts";

const serving = issueServing(["127.0.0.1", "api.test"], life, authority);

const elsewhere = issueServing(["api.test"], life, authority);

function serve(pair = serving) {
  const told = ["authorization", "impersonate-user", "impersonate-uid", "impersonate-group"];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: pair,
    fetch: ({ headers }) =>
      Response.json({
        metadata: Object.fromEntries(told.flatMap((name) => (headers.has(name) ? [[name, headers.get(name)]] : []))),
      }),
  });
  return { url: `https://127.0.0.1:${server.port}`, [Symbol.asyncDispose]: () => server.stop(true) };
}

const credential = (status: object) => `echo '${JSON.stringify({ kind: "ExecCredential", status })}'`;

test.each<[string, object, object, Record<string, string>, object]>([
  ["a CA inline, a token", ca, { token: "t" }, {}, { authorization: "Bearer t" }],
  [
    "a CA in a file beside the kubeconfig",
    { "certificate-authority": "pki/ca.crt" },
    { token: "t" },
    { "pki/ca.crt": authority.cert },
    { authorization: "Bearer t" },
  ],
  ["a CA in a file somewhere", { "certificate-authority": "FOLDER/ca.crt" }, {}, { "ca.crt": authority.cert }, {}],
  [
    "a token in a file, which wins",
    ca,
    { token: "t", tokenFile: "token" },
    { token: "from-file\n" },
    { authorization: "Bearer from-file" },
  ],
  ["a user and a password", ca, { username: "a", password: "b" }, {}, { authorization: `Basic ${btoa("a:b")}` }],
  [
    "somebody else's name",
    ca,
    { token: "t", as: "a", "as-uid": "1", "as-groups": ["g"] },
    {},
    { authorization: "Bearer t", "impersonate-user": "a", "impersonate-uid": "1", "impersonate-group": "g" },
  ],
  ["no verification", { "insecure-skip-tls-verify": true }, { token: "t" }, {}, { authorization: "Bearer t" }],
  ["another name than the server's", { ...ca, "tls-server-name": "api.test" }, {}, {}, {}],
  [
    "a plugin beside the kubeconfig",
    ca,
    { exec: plugin("").exec },
    plugin(credential({ token: "p" })).files,
    { authorization: "Bearer p" },
  ],
  [
    "a plugin with arguments and variables",
    ca,
    { exec: plugin("", { args: ["a"], env: [{ name: "B", value: "b" }] }).exec },
    plugin(`printf '{"status":{"token":"%s-%s"}}' $1 $B`).files,
    { authorization: "Bearer a-b" },
  ],
  [
    "a plugin that is told of the cluster",
    ca,
    { exec: plugin("", { provideClusterInfo: true }).exec },
    plugin(
      `case $KUBERNETES_EXEC_INFO in *'"interactive":false,"cluster":{"server":'*) ${credential({ token: "told" })};; esac`,
    ).files,
    { authorization: "Bearer told" },
  ],
  [
    "a plugin in PATH",
    ca,
    { exec: plugin("", { command: "sh", args: ["-c", credential({ token: "sh" })] }).exec },
    {},
    { authorization: "Bearer sh" },
  ],
])("%s", async (_, cluster, user, files, expected) => {
  await using server = serve();
  expect(await ask({ files: { ...files, config: kubeconfig({ server: server.url, ...cluster }, user) } })).toEqual(
    expected,
  );
});

test("a plugin is asked again when its token has expired, and not before", async () => {
  await using server = serve();
  using folder = temporaryFolder();
  const count = (expires: string) =>
    `echo x >> ${folder.path}/calls; ${credential({ token: "t", expirationTimestamp: expires })}`;
  const calls = async (expires: string): Promise<number> => {
    writeFileSync(join(folder.path, "calls"), "");
    const { exec, files } = plugin(count(expires));
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(folder.path, "bin"), { recursive: true });
      writeFileSync(join(folder.path, name), text, { mode: 0o755 });
    }
    const path = join(folder.path, "config");
    writeFileSync(path, JSON.stringify(kubeconfig({ server: server.url, ...ca }, { exec })));
    const api = createApiClient(await findAccess({ env: {}, kubeconfig: path }, collectLog()));
    for (let request = 0; request < 3; request++) await api.get("/x", { retries: 0 });
    return (await Bun.file(join(folder.path, "calls")).text()).length / 2;
  };
  expect(await calls("2099-01-01T00:00:00Z")).toBe(1);
  expect(await calls("2001-01-01T00:00:00Z")).toBe(3);
});

test("a token's file is read for each request", async () => {
  await using server = serve();
  using folder = temporaryFolder();
  const path = join(folder.path, "config");
  writeFileSync(path, JSON.stringify(kubeconfig({ server: server.url, ...ca }, { tokenFile: "token" })));
  const api = createApiClient(await findAccess({ env: {}, kubeconfig: path }, collectLog()));
  for (const token of ["one", "two"]) {
    writeFileSync(join(folder.path, "token"), token);
    expect(await api.get<unknown>("/x")).toEqual({ metadata: { authorization: `Bearer ${token}` } });
  }
});

test("several files are one: the first to say something wins", async () => {
  await using server = serve();
  const own = kubeconfig({ server: server.url, ...ca }, { token: "first" });
  const other = {
    ...kubeconfig({ server: "https://127.0.0.1:1" }, { token: "second" }),
    users: [{ name: "v", user: { token: "third" } }],
    contexts: [{ name: "y", context: { cluster: "c", user: "v" } }],
  };
  const files = { a: own, b: other };
  const env = { KUBECONFIG: "FOLDER/none:FOLDER/a:FOLDER/b" };
  expect(await ask({ files, env })).toEqual({ authorization: "Bearer first" });
  expect(await ask({ files, env, context: "y" })).toEqual({ authorization: "Bearer third" });
});

test("~/.kube/config is what is left", async () => {
  await using server = serve();
  const files = { ".kube/config": kubeconfig({ server: server.url, ...ca }, { token: "home" }) };
  expect(await ask({ files, env: { HOME: "FOLDER" } })).toEqual({ authorization: "Bearer home" });
});

test("a server without verification is warned of", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "config");
  writeFileSync(path, JSON.stringify(kubeconfig({ server: "https://a", "insecure-skip-tls-verify": true }, {})));
  const log = collectLog();
  await findAccess({ env: {}, kubeconfig: path }, log);
  expect(log.lines).toMatchObject([{ level: "warn", fields: { server: "https://a" } }]);
});

test("a certificate of an unknown CA, or for another name, is refused, and says what would help", async () => {
  await using server = serve();
  const unknown = ask({ files: { config: kubeconfig({ server: server.url }, {}) } });
  await expect(unknown).rejects.toThrow(/set certificate-authority in the kubeconfig/);
  await using other = serve(elsewhere);
  const wrong = ask({ files: { config: kubeconfig({ server: other.url, ...ca }, {}) } });
  await expect(wrong).rejects.toThrow(/set tls-server-name in the kubeconfig/);
  for (const error of await Promise.allSettled([unknown, wrong]))
    expect((error as PromiseRejectedResult).reason).toBeInstanceOf(ApiError);
});

import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { imageFlags, once, startCluster, stuckPod } from "../../binary/cluster/reaper.ts";
import { type Ended, ebb, ebbPath, inParallel, startEbb, temporaryFolder, until } from "../../harness/ebb.ts";
import { startEnvoy } from "../../stand-in/envoy.ts";

const CANARY = "c4nary";
const basic = Buffer.from(`me:${CANARY}`).toString("base64");

function expectHidden(...texts: readonly string[]): void {
  for (const text of texts) {
    const at = Math.max(text.indexOf(CANARY), text.indexOf(basic));
    expect(at < 0 ? "" : text.slice(Math.max(0, at - 100), at + 40)).toBe("");
  }
}

function expectAllHidden(all: readonly Ended[]): void {
  for (const { stdout, stderr } of all) expectHidden(stdout, stderr);
}

/** Secrets in all that takes one, of a server on this port. */
function planted(port: number): Readonly<Record<string, string>> {
  const base = `http://me:${CANARY}@127.0.0.1:${port}`;
  return {
    EBB_ADMIN: base,
    EBB_READY: `${base}/ready?token=${CANARY}`,
    EBB_QUIT: `GET ${base}/quit?token=${CANARY},+${base}/more?a=${CANARY}`,
    EBB_HEADER: `Authorization: Bearer ${CANARY}\nx-token: ${CANARY}`,
    EBB_READY_PATH: `/ready?token=${CANARY}`,
    EBB_QUIT_TIMEOUT: "200ms",
    EBB_WAIT_TIMEOUT: "300ms",
    DAPR_API_TOKEN: CANARY,
  };
}

const verbose = ["--log-level", "debug"];
const calls: readonly (readonly string[])[] = [
  ["run", ...verbose, "--sidecar", "envoy", "--", "true"],
  ["run", ...verbose, "--sidecar", "envoy,dapr", "--log-format", "text", "--drain", "300ms", "--", "true"],
  ["run", ...verbose, "--on-wait-timeout", "start", "--", "/nowhere/app"],
  ["wait", ...verbose, "--sidecar", "envoy"],
  ["quit", ...verbose, "--sidecar", "envoy"],
  ["drain", ...verbose, "--sidecar", "envoy", "--drain", "300ms", "--min-drain", "10ms", "--then-quit"],
  ["status", "--sidecar", "envoy"],
  ["status", "--sidecar", "envoy", "--json"],
  ["request", "/stats?token=c4nary"],
  ["config"],
  ["config", "--json"],
  ["run", "--help"],
];

describe("no command shows a secret that it was given rightly,", () => {
  test("with a server that answers", async () => {
    await using admin = await startEnvoy();
    admin.answers["/ready"] = { status: 302, location: `http://me:${CANARY}@elsewhere/?token=${CANARY}` };
    const env = { ...planted(admin.port), EBB_READY_PATH: "/ready" };
    const all = await inParallel(calls, (args) => ebb(args, { env }));
    expectAllHidden(all);
    const config = all.at(-3)?.stdout;
    expect(config).toContain("http://***@127.0.0.1:");
    expect(config).toContain("Authorization: ***");
  });

  test("without one", async () => {
    expectAllHidden(await inParallel(calls, (args) => ebb(args, { env: planted(9) })));
  });

  test("in another tool's name", async () => {
    const url = `http://me:${CANARY}@127.0.0.1:9`;
    const env = {
      ENVOY_ADMIN_API: `${url}`,
      ISTIO_QUIT_API: `${url}`,
      GENERIC_QUIT_ENDPOINTS: `${url}/a?token=${CANARY},${url}/b`,
      ENVOY_KILL_API: `${url}/kill?token=${CANARY}`,
      CSQL_PROXY_QUIT_URLS: `${url}/quit?token=${CANARY}`,
      WAIT_FOR_ENVOY_TIMEOUT: "200ms",
      QUIT_REQUEST_TIMEOUT: "200ms",
    };
    expectAllHidden([
      await ebb(["scuttle", "true"], { env }),
      await ebb(["run", "--wait-timeout", "200ms", "--quit-timeout", "200ms", "--", "true"], { env }),
      await ebb(["linkerd-await", `--uri=${url}/ready?a=${CANARY}`, "--timeout", "200ms"]),
      await ebb(["pilot-agent", "wait", "--url", `${url}/x?a=${CANARY}`, "--timeoutSeconds", "0"]),
    ]);
  });
});

describe("no error shows a secret that was given wrongly:", () => {
  test.each([
    [["config", "--header", `Authorization Bearer ${CANARY}`]],
    [["config", "--header", CANARY]],
    [["config", "--admin", `http//me:${CANARY}@host`]],
    [["config", "--admin", `http://me:${CANARY}`]],
    [["config", "--admin", `ftp://host/?token=${CANARY}`]],
    [["config", "--ready-path", `ready?token=${CANARY}`]],
    [["config", "--quit", `http://me:${CANARY}@host/ http://host`]],
    [["config", "--grace", `http://me:${CANARY}@host/`]],
    [["config", `http://me:${CANARY}@host/`]],
    [["config", `--heder=Authorization: Bearer ${CANARY}`]],
    [["request", `htp://me:${CANARY}@host/`]],
    [["wait", `htp://me:${CANARY}@host/?a=${CANARY}`]],
    [["quit", `http://me:${CANARY}@host/`]],
    [["inject", "--set", `header=Authorization ${CANARY}`]],
    [["inject", "--set", `quit=htp://me:${CANARY}@host`]],
    [["webhook", "--image", "x", "--set", `admin=htp://me:${CANARY}@host`]],
    [["linkerd-await", `--url=http://me:${CANARY}@host/`]],
    [["linkerd-await", `--uri=htp://me:${CANARY}@host/`]],
    [["sleep", `http://me:${CANARY}@host/`]],
  ])("%j", async (args) => {
    using folder = temporaryFolder();
    const path = join(folder.path, "log");
    const ended = await ebb(args);
    expect(ended.code).toBe(64);
    expectAllHidden([ended]);
    const flags = args.filter((word) => word.startsWith("--") || word.includes(CANARY));
    expectAllHidden([
      await ebb(["run", "--no-wait", "--sidecar", "none", "--termination-log", path, ...flags, "--", "true"]),
    ]);
    expectHidden(readFileSync(path, { encoding: "utf8", flag: "a+" }));
  });

  test.each([
    ["EBB_HEADER", `Authorization Bearer ${CANARY}`],
    ["EBB_QUIT", `http://me:pass,${CANARY}@host/`],
    ["EBB_QUIT", `http://me:${CANARY},1@host/`],
    ["ENVOY_ADMIN_API", `me:${CANARY}@host`],
    ["ENVOY_KILL_API", `http://me:${CANARY}@host:x/`],
  ])("%s=%s", async (name, value) => {
    expectAllHidden([
      await ebb(["config"], { env: { [name]: value } }),
      await ebb(["scuttle", "true"], { env: { [name]: value } }),
      await ebb(["envoy-preflight", "true"], { env: { ENVOY_ADMIN_API: "http://127.0.0.1:1", [name]: value } }),
    ]);
  });
});

test("ebb status hides what ebb and its command were called with", async () => {
  const url = `http://me:${CANARY}@127.0.0.1:9/?a=${CANARY}`;
  const flags = ["--no-wait", "--sidecar", "none", "--header", `x: ${CANARY}`, `--quit=${url}`, "--quit-on", "never"];
  const command = ["sh", "-c", "$EBB status --sidecar none; $EBB status --sidecar none --json", "sh", url];
  const through = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "--user", "--map-root-user"];
  await using started = startEbb(["run", ...flags, "--", ...command], { env: { EBB: ebbPath }, through });
  const ended = await started.ended;
  expect(ended.stdout).toContain("PID 1, ebb");
  expect(ended.stdout).toContain("***");
  expectAllHidden([ended]);
});

describe("the cluster side hides", () => {
  test("what pods say of the ends of their sidecars", async () => {
    await using cluster = startCluster();
    const pod = (name: string, annotations: object) =>
      cluster.put(stuckPod(name, { annotations: { "ebb.dev/reap": "true", ...annotations } }));
    pod("exec", { "ebb.dev/reap-exec.envoy": `["/bin/quit", "--token", "${CANARY}"]` });
    pod("bad", { "ebb.dev/reap-exec.envoy": `["/bin/quit", "${CANARY}"` });
    pod("quit", { "ebb.dev/reap-quit.envoy": `http://me:${CANARY}@localhost:9901/quit?token=${CANARY}` });
    pod("other", { "ebb.dev/reap-quit.envoy": `http://me:${CANARY}@elsewhere/quit?token=${CANARY}` });
    const flags = ["--allow-reap-exec", "--methods", "exec,port-forward,ephemeral", "--log-level", "debug"];
    const all = [await once(cluster, ...flags, "--dry-run"), await once(cluster, ...flags, "--dry-run", "--json")];
    expect(all[0]?.stdout).toContain("exec in envoy: /bin/quit ...");
    expectAllHidden(all);
    const ended = await once(cluster, ...imageFlags.slice(0, 2), "--methods", "exec,ephemeral", "--log-level", "debug");
    expectAllHidden([ended]);
    expectHidden(JSON.stringify(cluster.events()));
  });

  test.each([
    ["that is no YAML", `users: [{name: a, user: {token: "${CANARY}\n- x: ${CANARY}: y`],
    ["of another shape", `{"users": [{"name": 1, "user": {"token": "${CANARY}"}}]}`],
    ["with a server that is none", contextOf({ server: `me:${CANARY}@host` })],
    ["with a server that is not there", contextOf({ server: `http://me:${CANARY}@127.0.0.1:9/?a=${CANARY}` })],
    ["with a proxy", contextOf({ server: "http://127.0.0.1:9", "proxy-url": `http://me:${CANARY}@127.0.0.1:9` })],
    ["with a plugin", contextOf({ server: "http://127.0.0.1:9" }, { exec: { command: "echo", args: [CANARY] } })],
  ])("what is in a kubeconfig %s", async (_, text) => {
    using folder = temporaryFolder();
    const path = join(folder.path, "config");
    writeFileSync(path, text);
    await using started = startEbb(["reaper", "--once", "--dry-run", "--kubeconfig", path, ...verbose]);
    await until("an end, or a problem", () => /127|kubeconfig|server/.test(started.stderr()));
    expectHidden(started.stderr(), started.stdout());
  });
});

function contextOf(cluster: object, user: object = { token: CANARY, password: CANARY, username: "me" }): string {
  return JSON.stringify({
    "current-context": "a",
    contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
    clusters: [{ name: "a", cluster }],
    users: [{ name: "a", user }],
  });
}

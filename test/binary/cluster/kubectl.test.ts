import { expect, test } from "bun:test";
import { copyFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { ebb, ebbPath, startEbb, temporaryFolder, until } from "../../harness.ts";
import { onChannel, podPath, refuse } from "../../kube/api-server/api-server.ts";
import { startPluginCluster } from "./kubectl.ts";
import { running, stuckPod } from "./reaper.ts";

test("a symlink and a copy under the plugin's name are the plugin; under its own name ebb is ebb", async () => {
  await using cluster = startPluginCluster();
  using folder = temporaryFolder();
  const copy = join(folder.path, "kubectl-ebb");
  copyFileSync(ebbPath, copy);
  const help = await cluster.plugin("--help");
  expect([help.code, help.stdout]).toEqual([0, expect.stringContaining("usage: kubectl ebb COMMAND [flags]")]);
  expect((await ebb([], { program: copy })).stdout).toBe(help.stdout);
  expect((await ebb(["--help"])).stdout).toContain("usage: ebb [run]");
  expect((await ebb(["why", "pod"])).stderr).toContain("why: ");
  expect((await cluster.plugin("help")).stdout).toStartWith("# kubectl ebb: ");
  expect((await cluster.plugin("--version")).stdout).toMatch(/^ebb \d/);
  const why = await cluster.plugin("why", "--help");
  expect(why.stdout).toStartWith("usage: kubectl ebb why POD [flags]\n");
  const reap = await cluster.plugin("reap", "--help");
  expect(reap.stdout).toStartWith("usage: kubectl ebb reap [flags]\n");
});

test.each([
  [["nope"], "nope: no such command; kubectl ebb has status, drain, quit, why, reap, inject, doctor"],
  [["quti"], "quti: no such command; did you mean kubectl ebb quit?"],
  [["-n", "shop", "status"], 'COMMAND: expected one before the flags, as in kubectl ebb status -A, got "-n"'],
  [["why"], "POD: expected a pod such as web-0 or pod/web-0, got none; kubectl get pods lists them"],
  [["quit", "a", "b"], "POD: expected one pod, got 2: a, b;"],
  [["quit", "job/a"], 'POD: expected a pod such as web-0 or pod/web-0, got "job/a";'],
  [["status", "--", "--watch"], "POD: expected a pod such as web-0 or pod/web-0, got none"],
  [
    ["drain", "a", "--drain", "9s"],
    "unknown flag --drain; flags of the ebb in the pod come after --: kubectl ebb drain POD -- FLAG",
  ],
  [["reap", "-o", "yaml"], '--output: expected json, got "yaml"'],
  [["status", "a", "-A"], "POD: expected none with --all-namespaces or --selector"],
  [["status", "a", "-l", "app=x"], "POD: expected none with --all-namespaces or --selector"],
  [["reap", "-n"], "--namespace: expected a value"],
  [["status", "-o", "xml"], '--output: expected json, yaml or wide, got "xml"'],
  [["quit", "a", "--methods", "ephemeral"], "--methods: expected --image IMAGE with ephemeral"],
  [["why", "gone"], "pod gone: not in namespace shop; kubectl get pods lists them"],
])("%j is refused with 64", async (words, reason) => {
  await using cluster = startPluginCluster();
  const { code, stdout, stderr } = await cluster.plugin(...words);
  expect({ code, stdout, stderr }).toEqual({ code: 64, stdout: "", stderr: expect.stringContaining(`ebb: ${reason}`) });
});

test("stdout, stderr and exit code are those of the ebb in the pod, found at the first place that has one", async () => {
  await using cluster = startPluginCluster();
  cluster.put(stuckPod("web", { state: running }));
  const asked: string[] = [];
  cluster.programs = ([path = "", ...words], container) => {
    asked.push(`${container}: ${[path, ...words].join(" ")}`);
    if (path === "/ebb") return words[0] === "--version" ? { stdout: "another 1.0\n" } : { code: 1 };
    if (path === "/ebb.dev/ebb") return undefined;
    return words[0] === "--version"
      ? { stdout: "ebb 0.1.0\n" }
      : { stdout: "out ü\n", stderr: "err\u001b[1m\n", code: 69 };
  };
  const drained = await cluster.plugin("drain", "web", "--", "--drain", "5s");
  expect(drained).toMatchObject({ code: 69, stdout: "out ü\n", stderr: "err\\u001b[1m\n" });
  expect(asked).toEqual([
    "app: /ebb --version",
    "app: /ebb.dev/ebb --version",
    "app: ebb --version",
    "app: ebb drain --drain 5s",
  ]);
  asked.length = 0;
  await cluster.plugin("quit", "web", "-c", "envoy");
  expect(asked.at(-1)).toBe("envoy: ebb quit");
});

test("no container of an ended pod is asked, and quit has nothing to do", async () => {
  await using cluster = startPluginCluster();
  const pod = stuckPod("done");
  pod.status.phase = "Succeeded";
  pod.status.containerStatuses[1].state = pod.status.containerStatuses[0].state;
  cluster.put(pod);
  const status = await cluster.plugin("status", "done", "-o", "json");
  expect(JSON.parse(status.stdout)).toMatchObject({ by: "none", phase: "Succeeded", job: "job-done", status: null });
  expect([status.code, (await cluster.plugin("quit", "done")).code]).toEqual([0, 0]);
  expect(cluster.api.opened).toBe(0);
});

/** Answers each request with 200 and these bodies by path, as an Envoy's admin interface behind a kubelet. */
function serveAdmin(cluster: Awaited<ReturnType<typeof startPluginCluster>>, bodies: Record<string, string>): string[] {
  const asked: string[] = [];
  const port = Uint8Array.of(0x9a, 0x27);
  cluster.api.portforward = {
    open(far) {
      for (const channel of [0, 1]) far.send(onChannel(channel, port));
    },
    message(far, bytes) {
      const [, method = "", path = ""] = /^(\S+) (\S+)/.exec(Buffer.from(bytes.subarray(1)).toString()) ?? [];
      asked.push(`${method} ${path}`);
      const body = bodies[path.replace(/\?.*/, "")] ?? "OK\n";
      const head = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n`;
      far.send(onChannel(0, head + body));
      far.close();
    },
  };
  return asked;
}

test("without ebb the sidecar is asked through a port-forward, and the pod read twice", async () => {
  await using cluster = startPluginCluster();
  cluster.put(stuckPod("web", { state: running }));
  const info = { version: "x/1.40.0/Clean", state: "LIVE", command_line_options: {} };
  const asked = serveAdmin(cluster, { "/server_info": JSON.stringify(info), "/ready": "LIVE\n" });
  const status = await cluster.plugin("status", "web", "-o", "json");
  const document = JSON.parse(status.stdout);
  expect(document).toMatchObject({ by: "port-forward", status: { sockets: null, processes: null } });
  expect(document.status.sidecars).toMatchObject([
    { name: "envoy", envoy: { admin: "http://localhost:9901", state: "LIVE", release: "1.40.0" } },
  ]);
  expect(asked.filter((each) => each.startsWith("POST"))).toEqual([]);

  const reads = cluster.api.requests.filter((each) => each === `GET ${podPath("shop", "web")}`);
  expect(reads).toHaveLength(2); // before all, and after all
});

test.each([
  ["status", 1, "another pod has its name now"],
  ["drain", 1, "another pod has its name now"],
  ["drain", 2, "could not drain the sidecar"],
])("%s acts on no pod that gets the name when stream %d is open", async (name, at, reason) => {
  await using cluster = startPluginCluster();
  cluster.put(stuckPod("web", { state: running }));
  const asked = serveAdmin(cluster, { "/server_info": "{}" });
  let streams = 0;
  cluster.api.answer = (request, url) => {
    if (request.headers.has("sec-websocket-protocol") && url.pathname.endsWith("/portforward")) streams += 1;
    if (streams >= at)
      cluster.api.objects.set(podPath("shop", "web"), stuckPod("web", { uid: "other", state: running }));
    return undefined;
  };
  const words = name === "drain" ? ["--", "--drain", "1s", "--min-drain", "100ms"] : [];
  const { code, stdout, stderr } = await cluster.plugin(name, "web", ...words);
  expect([code, stdout, stderr]).toEqual([69, "", expect.stringContaining(reason)]);
  expect(asked.filter((each) => each.startsWith("POST"))).toEqual([]);
});

test("a drain through a port-forward counts nothing of this machine, and leaves nothing here", async () => {
  await using cluster = startPluginCluster();
  cluster.put(stuckPod("web", { state: running }));
  // statistics that say nothing, so that only sockets could tell what is in flight
  const asked = serveAdmin(cluster, { "/stats": "x", "/stats/prometheus": "x" });
  const modes = new Set<string>();
  const serve = cluster.api.portforward.message;
  cluster.api.portforward.message = (...given) => {
    for (const name of readdirSync(cluster.temporary))
      modes.add((statSync(join(cluster.temporary, name)).mode & 0o777).toString(8));
    serve?.(...given);
  };
  const drained = await cluster.plugin("drain", "web", "--", "--drain", "1s", "--min-drain", "100ms");
  expect(drained.code).toBe(69);
  expect(drained.stderr).toContain("cannot count the work in flight");
  expect(asked).toContain("POST /healthcheck/fail");
  expect([...modes]).toEqual(["700"]);
  expect(readdirSync(cluster.temporary)).toEqual([]);
  const quit = await cluster.plugin("drain", "web", "--", "--quit");
  expect([quit.code, quit.stderr]).toEqual([64, expect.stringContaining("unknown flag --quit")]);
});

test("why reads a pod and its namespace once, and asks for rights to what would end it", async () => {
  await using cluster = startPluginCluster();
  cluster.api.put("/api/v1/namespaces/shop", { metadata: { name: "shop" } });
  cluster.put(stuckPod("runs", { state: running }));
  cluster.put(stuckPod("stuck"));
  const read = (name: string) => [`GET ${podPath("shop", name)}`, "GET /api/v1/namespaces/shop"];
  expect((await cluster.plugin("why", "runs")).code).toBe(0);
  expect(cluster.api.requests).toEqual(read("runs"));
  cluster.api.requests.length = 0;
  expect((await cluster.plugin("why", "stuck")).code).toBe(1);
  const review = "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  expect(cluster.api.requests).toEqual([...read("stuck"), review, review]);
});

test.each([
  [401, "status", "; renew the kubeconfig's credentials"],
  [403, "why", "; ask an administrator to allow it"],
  [409, "drain", "; run it again"],
  [422, "quit", ""],
])("a %d of the API server is said by %s, with what to do", async (status, name, remedy) => {
  await using cluster = startPluginCluster();
  cluster.api.answer = () => refuse(status, "no");
  const { code, stdout, stderr } = await cluster.plugin(name, "web");
  const reason = `GET ${podPath("shop", "web")}: ${status} no${remedy}`;
  expect({ code, stdout, stderr }).toEqual({ code: 69, stdout: "", stderr: `ebb: kubectl ebb: ${reason}\n` });
});

test("an API server that refuses, or a signal, ends a command by its own exit code", async () => {
  await using cluster = startPluginCluster();
  cluster.put(stuckPod("web", { state: running }));
  cluster.api.answer = (request) =>
    request.method === "PATCH" ? refuse(403, 'cannot patch resource "pods/ephemeralcontainers"') : undefined;
  const refused = await cluster.plugin("status", "web", "--image", "ebb:1");
  expect([refused.code, refused.stderr]).toEqual([69, expect.stringContaining("ebb: kubectl ebb: PATCH /api/v1")]);

  const words: string[] = [];
  cluster.api.exec = {
    open: (far, url) => {
      words.push(url.searchParams.getAll("command").join(" "));
      if (!words.at(-1)?.endsWith("--version")) return; // it does not end
      far.send(onChannel(1, "ebb 0.1.0\n"));
      far.send(onChannel(3, JSON.stringify({ status: "Success" })));
      far.close();
    },
  };
  using folder = temporaryFolder();
  const program = join(folder.path, "kubectl-ebb");
  copyFileSync(ebbPath, program);
  const args = ["status", ...cluster.flags.slice(0, 2), "-n", "shop", "web", "--", "--watch"];
  await using started = startEbb(args, { program });
  await until("it watches", () => words.includes("/ebb status --watch"));
  started.kill("SIGINT");
  expect(await started.ended).toMatchObject({ code: 130, stderr: "" });
  await until("the stream is closed", () => cluster.api.closed === cluster.api.opened);
});

test("completion has the names of the cluster, and nothing where there is none", async () => {
  await using cluster = startPluginCluster();
  for (const name of ["web-1", "web-0", "job"]) cluster.put(stuckPod(name));
  expect(await cluster.complete("why", "-n", "shop", "web")).toBe("web-0\nweb-1\n:4\n");
  expect(await cluster.complete("status", "--context", "")).toBe("x\n:4\n");
  cluster.api.answer = () => refuse(403, "no");
  expect(await cluster.complete("why", "-n", "shop", "")).toBe(":4\n");
  expect(await cluster.complete("why", "--kubeconfig", "/nope", "")).toBe(":4\n");
  expect(await cluster.complete("nope", "")).toBe(":4\n");
});

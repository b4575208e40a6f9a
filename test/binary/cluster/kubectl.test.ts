import { expect, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { ebb, ebbPath, startEbb, temporaryFolder, until } from "../../harness/ebb.ts";
import { onChannel, podPath, refuse } from "../../stand-in/api-server/api-server.ts";
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
  expect((await ebb(["--help"])).stdout).toContain("\nusage: ebb ");
  expect((await ebb(["why", "pod"])).stderr).toContain("why: ");
  expect((await cluster.plugin("help")).stdout).toStartWith("# kubectl ebb: ");
  expect((await cluster.plugin("--version")).stdout).toMatch(/^ebb \d/);
  const why = await cluster.plugin("why", "--help");
  expect(why.stdout).toStartWith("usage: kubectl ebb why POD [flags]\n");
  const reap = await cluster.plugin("reap", "--help");
  expect(reap.stdout).toStartWith("usage: kubectl ebb reap [flags]\n");
});

test.each([
  [["nope"], "nope: no such command; kubectl ebb has status, why, reap, inject, doctor, timeline"],
  [["stauts"], "stauts: no such command; did you mean kubectl ebb status?"],
  [["-n", "shop", "status"], 'COMMAND: expected one before the flags, as in kubectl ebb status -A, got "-n"'],
  [["why"], "POD: expected a pod such as web-0 or pod/web-0, got none; kubectl get pods lists them"],
  [["status", "a", "--", "b"], "POD: expected one pod, got 2: a, b;"],
  [["why", "job/a"], 'POD: expected a pod such as web-0 or pod/web-0, got "job/a";'],
  [["reap", "-o", "yaml"], '--output: expected json, got "yaml"'],
  [["status", "a", "-A"], "POD: expected none with --all-namespaces or --selector"],
  [["status", "a", "-l", "app=x"], "POD: expected none with --all-namespaces or --selector"],
  [["reap", "-n"], "--namespace: expected a value"],
  [["status", "-o", "xml"], '--output: expected json, yaml or wide, got "xml"'],
  [["why", "a", "--methods", "ephemeral"], "--methods ephemeral: expected --image IMAGE"],
  [["why", "gone"], "pod gone: not in namespace shop; kubectl get pods lists them"],
])("%j is refused with 64", async (words, reason) => {
  await using cluster = startPluginCluster();
  const { code, stdout, stderr } = await cluster.plugin(...words);
  expect({ code, stdout, stderr }).toEqual({ code: 64, stdout: "", stderr: expect.stringContaining(`ebb: ${reason}`) });
});

/** A pod that runs, whose app starts with ebb. */
function podWithEbb(name: string) {
  const pod = stuckPod(name, { state: running });
  pod.spec.containers[0].command = ["/shared/ebb", "run", "--", "/app"];
  return pod;
}

test("status POD runs the ebb that the spec shows, once, and prints what it says, escaped", async () => {
  await using cluster = startPluginCluster();
  cluster.put(podWithEbb("web"));
  const asked: string[] = [];
  cluster.programs = (words, container) => {
    asked.push(`${container}: ${words.join(" ")}`);
    return { stdout: words.includes("--json") ? '{"version": 1}' : "envoy: LIVE \u001b[1m\n" };
  };
  const text = await cluster.plugin("status", "web");
  expect([text.code, text.stderr]).toEqual([0, ""]);
  expect(text.stdout).toStartWith("pod shop/web: Running, of Job job-web\n");
  expect(text.stdout).toContain("\nnot stuck: app-running: app container app still runs\n");
  expect(text.stdout).toEndWith("\nenvoy: LIVE \\u001b[1m\n");
  const json = await cluster.plugin("status", "web", "-o", "json");
  expect(JSON.parse(json.stdout)).toMatchObject({ name: "web", ebb: "yes", status: { version: 1 } });
  expect(asked).toEqual(["app: /shared/ebb status", "app: /shared/ebb status --json"]);
});

test.each([
  ["there is none", "no such file or directory"],
  ["it fails", '/shared/ebb status: exit code 64: "ebb: unknown flag"'],
  ["a right is missing", 'cannot create resource "pods/exec"'],
])(
  "if the ebb in the pod does not answer, as %s, the API server's view is there, and the log says why",
  async (how, why) => {
    await using cluster = startPluginCluster();
    cluster.put(podWithEbb("web"));
    if (how === "it fails") cluster.programs = () => ({ code: 64, stderr: "ebb: unknown flag\n" });
    if (how === "a right is missing")
      cluster.api.answer = (request) =>
        new URL(request.url).pathname.endsWith("/exec") ? refuse(403, 'cannot create resource "pods/exec"') : undefined;
    const { code, stdout, stderr } = await cluster.plugin("status", "web");
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^envoy +sidecar +envoy +running$/m)]);
    expect(stderr).toContain("cannot ask the ebb in the pod");
    expect(stderr.replaceAll("\\", "")).toContain(why);
  },
);

test("in a pod without ebb nothing is run: status POD says how to ask with kubectl, unless the pod has ended", async () => {
  await using cluster = startPluginCluster();
  cluster.put(stuckPod("web", { state: running }));
  const done = stuckPod("done");
  done.status.phase = "Succeeded";
  done.status.containerStatuses[1].state = done.status.containerStatuses[0].state;
  cluster.put(done);
  const status = await cluster.plugin("status", "web");
  expect([status.code, status.stderr]).toEqual([0, ""]);
  expect(status.stdout).toContain("kubectl debug -n shop web -it --image=IMAGE -- /ebb status");
  expect((await cluster.plugin("status", "done")).stdout).not.toContain("kubectl");
  const json = await cluster.plugin("status", "done", "-o", "json");
  expect(JSON.parse(json.stdout)).toMatchObject({ phase: "Succeeded", job: "job-done", status: null });
  expect(cluster.api.opened).toBe(0);
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

test("why and --end tell a user who lacks a permission to ask for it", async () => {
  await using cluster = startPluginCluster();
  cluster.api.put("/api/v1/namespaces/shop", { metadata: { name: "shop" } });
  cluster.put(stuckPod("stuck"));
  cluster.api.answer = (request) =>
    new URL(request.url).pathname.endsWith("/selfsubjectaccessreviews")
      ? Response.json({ metadata: {}, status: { allowed: false } })
      : undefined;
  const { code, stdout } = await cluster.plugin("why", "stuck", "--end", "--methods", "port-forward");
  expect([code, stdout]).toEqual([
    69,
    expect.stringMatching(
      /: you may not (.*pods\/portforward.*); ask an administrator to allow it\nno permission: .* because you may not \1; ask an administrator to allow it\n$/,
    ),
  ]);
});

test("--end with --image acts at once where the other methods were refused a moment ago", async () => {
  await using cluster = startPluginCluster();
  cluster.api.put("/api/v1/namespaces/shop", { metadata: { name: "shop" } });
  cluster.put(stuckPod("odd"));
  cluster.api.portforward = {
    open(far) {
      for (const channel of [0, 1]) far.send(onChannel(channel, Uint8Array.of(0x9a, 0x27)));
      far.send(onChannel(1, "failed to connect to localhost:9901 inside namespace: connection refused"));
      far.close();
    },
  };
  const refused = await cluster.plugin("why", "odd", "--end");
  expect([refused.code, refused.stdout]).toEqual([
    69,
    expect.stringMatching(/^gave up: .*--image IMAGE allows one more.*: connection refused/m),
  ]);
  const ended = await cluster.plugin("why", "odd", "--end", "--image", "registry.example.com/ebb:1");
  expect([ended.code, ended.stdout]).toEqual([0, expect.stringMatching(/^ended: envoy, by ephemeral container: /m)]);
  expect(cluster.told).toEqual(["odd"]);
});

test.each([
  [401, "status", "; renew the kubeconfig's credentials"],
  [403, "why", "; ask an administrator to allow it"],
  [409, "status", "; run it again"],
  [422, "why", ""],
])("a %d of the API server is said by %s, with what to do", async (status, name, remedy) => {
  await using cluster = startPluginCluster();
  cluster.api.answer = () => refuse(status, "no");
  const { code, stdout, stderr } = await cluster.plugin(name, "web");
  const reason = `GET ${podPath("shop", "web")}: ${status} no${remedy}`;
  expect({ code, stdout, stderr }).toEqual({ code: 69, stdout: "", stderr: `ebb: kubectl ebb: ${reason}\n` });
});

test("a stop signal ends a command by its own exit code, and closes its stream", async () => {
  await using cluster = startPluginCluster();
  cluster.put(podWithEbb("web"));
  cluster.api.exec = { open: () => undefined }; // it does not end
  using folder = temporaryFolder();
  const program = join(folder.path, "kubectl-ebb");
  copyFileSync(ebbPath, program);
  const args = ["status", ...cluster.flags.slice(0, 2), "-n", "shop", "web"];
  await using started = startEbb(args, { program });
  await until("ebb is run", () => cluster.api.opened === 1);
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

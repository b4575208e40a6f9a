import { expect, test } from "bun:test";
import { ebb, lineOf } from "../../harness/ebb.ts";
import { onChannel, refuse } from "../../stand-in/api-server/api-server.ts";
import { once, running, startCluster, stuckPod } from "./reaper.ts";

test("ebb reaper --once ends stuck pods, leaves the others, and prints a table of what became of each and why", async () => {
  await using cluster = startCluster();
  cluster.put(stuckPod("done"));
  cluster.put(stuckPod("failed", { exitCode: 3 }));
  cluster.put(stuckPod("busy", { state: running }));
  cluster.put(stuckPod("mute", { annotations: {} }));
  cluster.put(stuckPod("out", { annotations: { "ebb.dev/reap": "false" } }));
  const { code, stdout, log } = await once(cluster);
  expect(code).toBe(0);
  expect(cluster.told.toSorted()).toEqual(["done", "failed"]);
  const [head, ...lines] = stdout.trimEnd().split("\n");
  expect(head).toMatch(/^NAMESPACE +POD +RESULT +WHY$/);
  expect(lines.map((line) => line.split(/ +/).slice(0, 3))).toEqual([
    ["shop", "done", "ended"],
    ["shop", "failed", "ended"],
    ["shop", "mute", "not"],
    ["shop", "out", "left"],
    ["1", "pod", "not"],
    ["1", "pod", "not"],
  ]);
  expect(lines[0]).toContain("envoy, by ephemeral container: ebb quit");
  expect(lines[2]).toContain(
    "stuck: the app has ended and will not restart (app: exit code 0), but envoy still runs; neither it nor",
  );
  expect(lines.slice(-2)).toEqual([
    "1 pod not stuck: 1 app-running",
    "1 pod not selected, 1 stuck: select by the label ebb.dev/reap=true on a pod or its namespace, or with --all-jobs",
  ]);
  const told = log.filter(({ msg }) => msg === "ebb: asked a sidecar to exit");
  expect(told).toHaveLength(2);
  expect(told.find(({ pod }) => pod === "done")).toMatchObject({
    ...{ namespace: "shop", pod: "done", uid: "uid-done", job: "job-done", container: "envoy" },
    ...{ reason: "stuck", result: "taken" },
  });
});

test("each request to a sidecar is an Event on the pod, and so is the end", async () => {
  await using cluster = startCluster();
  cluster.put(stuckPod("done"));
  expect((await once(cluster)).code).toBe(0);
  expect(cluster.events().map(({ reason, type }) => `${type} ${reason}`)).toEqual([
    "Normal SidecarAsked",
    "Normal SidecarsEnded",
  ]);
  expect(cluster.events()[0]).toMatchObject({
    regarding: { apiVersion: "v1", kind: "Pod", namespace: "shop", name: "done", uid: "uid-done" },
    reportingController: "ebb.dev/reaper",
  });
  expect(cluster.events()[0].eventTime).toMatch(/\.\d{6}Z$/);
});

test("--dry-run tells what would be, and asks for nothing but lists and its rights", async () => {
  await using cluster = startCluster();
  cluster.put(stuckPod("done"));
  const { code, stdout } = await once(cluster, "--dry-run");
  expect({ code, told: cluster.told }).toEqual({ code: 0, told: [] });
  expect(stdout).toContain("would end");
  const isQuestion = /^(GET \/api\/v1\/(pods|namespaces)\?|POST \S+\/selfsubjectaccessreviews$)/;
  expect(cluster.api.requests.filter((each) => !isQuestion.test(each))).toEqual([]);
});

test("--json prints the same for programs, all pods of it", async () => {
  await using cluster = startCluster();
  cluster.put(stuckPod("done"));
  cluster.put(stuckPod("busy", { state: running }));
  const { stdout } = await once(cluster, "--json");
  const rows: readonly object[] = JSON.parse(stdout);
  expect(rows).toHaveLength(2);
  expect(rows).toContainEqual({
    namespace: "shop",
    pod: "busy",
    result: "left alone",
    why: "app container app still runs",
    reason: "app-running",
  });
});

test("a pod whose app has just ended is waited for, no longer than --after", async () => {
  await using cluster = startCluster();
  cluster.put(stuckPod("fresh", { secondsAgo: 0 }));
  const { code } = await once(cluster, "--after", "1s");
  expect({ code, told: cluster.told }).toEqual({ code: 0, told: ["fresh"] });
});

test("--all-jobs, --namespace and --selector say which; the pods that are left out are not even asked for", async () => {
  await using cluster = startCluster();
  cluster.put(stuckPod("mute", { annotations: {} }));
  for (const name of ["shop", "bank"]) cluster.api.put(`/api/v1/namespaces/${name}`, { metadata: { name } });
  expect((await once(cluster, "--all-jobs", "-n", "bank")).stdout).toBe("no pods\n");
  expect((await once(cluster, "--all-jobs", "--selector", "app=x")).stdout).toBe("no pods\n");
  expect((await once(cluster, "--all-jobs", "--namespace", "shop")).stdout).toContain("ended");
  expect(cluster.told).toEqual(["mute"]);
});

test("a namespace that is not there is exit 64, by its name", async () => {
  await using cluster = startCluster();
  const { code, stdout, stderr } = await once(cluster, "--namespace", "nope");
  expect([code, stdout]).toEqual([64, ""]);
  expect(stderr).toContain('--namespace: there is no namespace "nope"');
});

test("an API server that refuses is exit 69, in its own words", async () => {
  await using cluster = startCluster();
  cluster.api.answer = () => refuse(403, 'pods is forbidden: User "x" cannot list resource "pods"');
  const ended = await once(cluster);
  expect(ended.code).toBe(69);
  expect(lineOf(ended, "cannot go on").reason).toContain('User "x" cannot list resource "pods"');
});

test("--methods ephemeral without --image is a usage error", async () => {
  const { code, stderr } = await ebb(["reaper", "--once", "--methods", "ephemeral"]);
  expect(code).toBe(64);
  expect(stderr).toContain("--methods ephemeral: expected --image IMAGE");
});

test("without --image the other methods are used", async () => {
  await using cluster = startCluster();
  const { code, log, ...ended } = await ebb(["reaper", "--once", ...cluster.flags.slice(0, 2)]);
  expect(code).toBe(0);
  expect(lineOf({ code, log, ...ended }, "starting the reaper").methods).toEqual(["exec", "port-forward"]);
});

test("a pod whose methods are all refused outright is given up after one round, and the table names --image as one more way", async () => {
  await using cluster = startCluster();
  cluster.put(stuckPod("stuck"));
  cluster.api.portforward = {
    open(far) {
      for (const channel of [0, 1]) far.send(onChannel(channel, Uint8Array.of(0x9a, 0x27)));
      far.send(onChannel(1, "an error occurred forwarding 9901 -> 9901: connect: connection refused"));
    },
  };
  const { code, stdout } = await ebb(["reaper", "--once", ...cluster.flags.slice(0, 2)]);
  expect(code).toBe(69);
  expect(stdout).toContain("--image IMAGE allows one more, an ephemeral container");
  expect(stdout).toContain("connection refused");
  expect(cluster.events().map(({ reason }) => reason)).toEqual(["SidecarDidNotExit"]);
});

test("the table says what the account may not do, with --dry-run too", async () => {
  await using cluster = startCluster();
  cluster.api.denied.add("patch pods/ephemeralcontainers");
  cluster.put(stuckPod("stuck"));
  const dry = await once(cluster, "--dry-run");
  const lack = "you may not patch pods/ephemeralcontainers in all namespaces; ask an administrator to allow it";
  expect([dry.code, dry.stdout]).toEqual([0, expect.stringContaining(lack)]);
  expect(lineOf(dry, "the reaper's account lacks permissions").how).toStartWith("ask an administrator");
  const env = { KUBERNETES_SERVICE_HOST: "10.96.0.1" }; // a CronJob's pod
  const inPod = await ebb(["reaper", "--once", ...cluster.flags, "--dry-run"], { env });
  expect(inPod.stdout).toContain("this reaper's account may not patch pods/ephemeralcontainers in all namespaces");
  const real = await once(cluster);
  expect([real.code, real.stdout]).toEqual([69, expect.stringMatching(/stuck +no permission/)]);
  expect(cluster.told).toEqual([]);
});

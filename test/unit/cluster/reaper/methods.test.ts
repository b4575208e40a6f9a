import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { EndResult, Unanswered } from "../../../../src/cluster/reaper/core/attempt.ts";
import type { Method } from "../../../../src/cluster/reaper/core/methods.ts";
import { createSender } from "../../../../src/cluster/reaper/methods/send.ts";
import { type FakeClock, stopClock } from "../../../harness/fake-clock.ts";
import { onChannel, refuse, type StandInApi, type StreamEnd } from "../../../stand-in/api-server/api-server.ts";
import { collectLog } from "../collect-log.ts";
import { ended, type Json } from "./core/stuck-pods.ts";
import { annotations, metadata, POD, refused, send, stuck, taken, targetIn, withPod } from "./sent-request.ts";

let clock: FakeClock;
beforeEach(() => {
  clock = stopClock();
});
afterEach(() => clock[Symbol.dispose]());

describe("exec", () => {
  const method: Method = { kind: "exec", container: "envoy", command: ["/stop", "--now please"] };
  const path = `${POD}/exec?container=envoy&stdout=true&stderr=true&command=%2Fstop&command=--now+please`;
  const says = (...messages: readonly Uint8Array[]): StreamEnd => ({
    open(far) {
      for (const message of messages) far.send(message);
      far.close();
    },
  });
  const status = (value: Json): Uint8Array => onChannel(3, JSON.stringify(value));
  const code = (text: string): Uint8Array =>
    status({
      status: "Failure",
      reason: "NonZeroExitCode",
      details: { causes: [{ reason: "ExitCode", message: text }] },
    });

  test("nothing waits between the look at the pod and the command", async () => {
    await using cluster = withPod();
    cluster.exec = says(onChannel(1, "OK\n"), status({ status: "Success" }));
    expect((await send(cluster, method)).result).toEqual(taken);
    expect(cluster.requests).toEqual([`GET ${POD}`, `STREAM ${path} v5.channel.k8s.io`]);
  });

  test.each<[string, readonly Uint8Array[], EndResult]>([
    ["success", [status({ status: "Success" })], taken],
    ["killed with its container", [code("137")], taken],
    ["cut off without a word", [onChannel(1, "half")], taken],
    ["an exit code", [code("69")], refused("exit code 69")],
    [
      "an exit code, and why",
      [onChannel(2, "no "), onChannel(1, "way\n"), code("1")],
      refused('exit code 1: "no way"'),
    ],
    [
      "no such command",
      [status({ status: "Failure", reason: "InternalError", message: "stat /stop: no such file or directory" })],
      refused("stat /stop: no such file or directory"),
    ],
    ["a status that is none", [onChannel(3, "what?")], refused('"what?"')],
    [
      "no kubelet",
      [status({ status: "Failure", message: "error dialing backend: dial tcp: connection refused" })],
      { kind: "unavailable", why: "error dialing backend: dial tcp: connection refused" },
    ],
  ])("%s", async (_, messages, result) => {
    await using cluster = withPod();
    cluster.exec = says(...messages);
    expect((await send(cluster, method)).result).toEqual(result);
  });

  test("of much output the first is kept", async () => {
    await using cluster = withPod();
    const much = Array.from({ length: 100 }, () => onChannel(1, "x".repeat(10_000)));
    cluster.exec = says(...much, code("2"));
    const { result } = await send(cluster, method);
    expect(result).toEqual(refused(`exit code 2: "${"x".repeat(200)}..."`));
  });

  test("a look that took long tells nothing of now: nothing is sent, and the next method follows", async () => {
    await using cluster = withPod();
    cluster.answer = () => void clock.pass(500);
    expect((await send(cluster, method)).result).toMatchObject({ kind: "refused", isUnasked: true });
    expect(cluster.requests).toEqual([`GET ${POD}`]);
  });

  const late = "the API server did not open it within 500ms of the look at the pod";
  test.each<[string, number, EndResult | Unanswered]>([
    ["499 ms after the look is heard", 499, taken],
    ["500 ms after the look is given up", 500, { kind: "unanswered", why: late }],
  ])("a stream that opens %s", async (_, ms, result) => {
    await using cluster = withPod();
    cluster.exec = says(status({ status: "Success" }));
    const halves = [Math.floor(ms / 2), Math.ceil(ms / 2)]; // one for the look, which is part of it
    cluster.answer = () => void clock.pass(halves.shift() ?? 0);
    expect((await send(cluster, method)).result).toEqual(result);
    await clock.until("nothing is left open", () => cluster.opened === cluster.closed);
  });
});

describe("ephemeral", () => {
  const method: Method = {
    kind: "ephemeral",
    container: "envoy",
    args: ["quit", "--sidecar", "envoy"],
    env: [{ name: "A", value: "b" }],
  };
  const containersOf = (cluster: StandInApi): readonly Json[] =>
    (cluster.objects.get(POD) as { spec: { ephemeralContainers: readonly Json[] } }).spec.ephemeralContainers;

  test("a container that ends the sidecar is put into the pod", async () => {
    await using cluster = withPod();
    expect((await send(cluster, method)).result).toEqual(taken);
    expect(cluster.requests).toEqual([`GET ${POD}`, `PATCH ${POD}/ephemeralcontainers`]);
    expect(containersOf(cluster)).toEqual([
      {
        name: "ebb-reaper-1",
        image: "ebb:1",
        command: ["/ebb"],
        args: ["quit", "--sidecar", "envoy", "--quit-timeout", "1m30s", "--ignore-not-found=false"],
        env: [{ name: "A", value: "b" }],
        terminationMessagePolicy: "FallbackToLogsOnError",
        securityContext: {
          allowPrivilegeEscalation: false,
          capabilities: { drop: ["ALL"] },
          readOnlyRootFilesystem: true,
          runAsNonRoot: true,
          runAsUser: 65532,
          runAsGroup: 65532,
          seccompProfile: { type: "RuntimeDefault" },
        },
      },
    ]);
  });

  test.each<[string, Json]>([
    ["the pod's own", { spec: { restartPolicy: "Never", securityContext: { runAsUser: 1000 } } }],
    [
      "OpenShift's",
      { metadata: { ...metadata, annotations: { ...annotations, "openshift.io/scc": "restricted-v2" } } },
    ],
  ])("its user is %s, where there is one", async (_, more) => {
    await using cluster = withPod(stuck("uid-1", more));
    expect((await send(cluster, method)).result).toEqual(taken);
    expect(containersOf(cluster)[0]?.securityContext).not.toHaveProperty("runAsUser");
  });

  test("beside others that were there, with a number of its own; in a pod of root's as another user", async () => {
    const ephemeralContainers = { debug: ended(0), "ebb-reaper-1": ended(1) };
    await using cluster = withPod(
      stuck("uid-1", { ephemeralContainers, spec: { restartPolicy: "Never", securityContext: { runAsUser: 0 } } }),
    );
    const pod = cluster.objects.get(POD) as { spec: Json };
    pod.spec.ephemeralContainers = [{ name: "debug" }, { name: "ebb-reaper-1" }];
    expect((await send(cluster, { ...method, env: [] })).result).toEqual(taken);
    expect(containersOf(cluster).map(({ name }) => name)).toEqual(["debug", "ebb-reaper-1", "ebb-reaper-2"]);
    expect(containersOf(cluster)[2]).toMatchObject({ securityContext: { runAsUser: 65532, runAsGroup: 65532 } });
    expect(containersOf(cluster)[2]).not.toHaveProperty("env");
  });

  const changed = { ...stuck(), metadata: { ...(stuck().metadata as Json), resourceVersion: "8" } };
  test.each<[string, Json, EndResult]>([
    ["another pod", stuck("uid-2"), refused("422 the request is invalid")],
    ["a pod that has changed", changed, { kind: "unavailable", why: "409 the object has been modified" }],
  ])("%s by then is not changed", async (_, other, result) => {
    await using cluster = withPod();
    cluster.answer = ({ method }) => {
      if (method === "PATCH") cluster.objects.set(POD, other);
      return undefined;
    };
    expect((await send(cluster, method)).result).toEqual(result);
    expect(cluster.objects.get(POD)).toEqual(other);
  });
});

describe("whatever the method", () => {
  const all: readonly Method[] = [
    { kind: "exec", container: "envoy", command: ["/stop"] },
    { kind: "port-forward", container: "envoy", requests: [{ port: 1, method: "POST", path: "/q", headers: [] }] },
    { kind: "ephemeral", container: "envoy", args: ["quit"], env: [] },
  ];
  const table = all.map((method) => [method.kind, method] as const);

  test.each(table)("%s: what is not allowed is refused in the server's words, and logged once", async (_, method) => {
    await using cluster = withPod();
    const why = 'pods "p" is forbidden: User "x" cannot do that';
    cluster.answer = (_, { pathname }) => (pathname === POD ? undefined : refuse(403, why));
    const log = collectLog();
    const sender = createSender({ api: cluster.api, image: "i", log });
    for (let time = 0; time < 2; time++) {
      const result = await sender({ container: "envoy", method, patienceMs: 1 }, await targetIn(cluster));
      expect(result).toEqual(refused(`403 ${why}`));
    }
    expect(log.lines).toMatchObject([{ level: "warn", fields: { method: method.kind } }]);
  });

  test.each(table)(
    "%s: what a right is missing for is told apart: it may be granted in a moment",
    async (_, method) => {
      await using cluster = withPod();
      const why =
        'pods "p" is forbidden: User "x" cannot create resource "pods/exec" in API group "" in the namespace "shop"';
      cluster.answer = (_, { pathname }) => (pathname === POD ? undefined : refuse(403, why));
      expect((await send(cluster, method)).result).toEqual({ kind: "refused", why: `403 ${why}`, isUnasked: true });
    },
  );

  test.each(table)("%s: a server that has too much to do is left alone as long as it wants", async (_, method) => {
    await using cluster = withPod();
    cluster.answer = (_, { pathname }) =>
      pathname === POD ? undefined : refuse(429, "slowly", { "retry-after": "7" });
    expect((await send(cluster, method)).result).toEqual({ kind: "unavailable", why: "429 slowly", afterMs: 7000 });
  });

  test.each(table)("%s: what conflicts with somebody else's write is tried again", async (_, method) => {
    await using cluster = withPod();
    cluster.answer = (_, { pathname }) => (pathname === POD ? undefined : refuse(409, "conflict"));
    expect((await send(cluster, method)).result).toEqual({ kind: "unavailable", why: "409 conflict" });
  });

  test.each(table)("%s: a pod that is gone by then is refused", async (_, method) => {
    await using cluster = withPod();
    cluster.answer = (_, { pathname }) => {
      if (pathname !== POD) cluster.objects.clear();
      return undefined;
    };
    expect((await send(cluster, method)).result).toEqual(refused('404 pods "p" not found'));
  });

  test.each(table)("%s: it ends with the signal's reason", async (_, method) => {
    await using cluster = withPod();
    const stop = new AbortController();
    cluster.answer = (_, { pathname }) => {
      if (pathname === POD) return undefined;
      stop.abort(new Error("enough"));
      return new Promise(() => undefined);
    };
    const sending = send(cluster, method, stop.signal);
    expect(await sending.catch((error: unknown) => error)).toEqual(new Error("enough"));
  });
});

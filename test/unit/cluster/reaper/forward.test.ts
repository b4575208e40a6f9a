import { describe, expect, test } from "bun:test";
import type { EndResult } from "../../../../src/cluster/reaper/core/attempt.ts";
import type { Method } from "../../../../src/cluster/reaper/core/methods.ts";
import { stopClock } from "../../../harness/fake-clock.ts";
import { onChannel, type StreamEnd } from "../../../stand-in/api-server/api-server.ts";
import { ended, podOf, running } from "./core/stuck-pods.ts";
import { metadata, POD, refused, send, taken, withPod } from "./sent-request.ts";

describe("port-forward", () => {
  const annotation = "the annotation ebb.dev/reap-quit.envoy";
  const noPath = `no such path: is this Envoy's admin interface? If it is elsewhere, set ${annotation} to its URL`;
  const request = { port: 15000, method: "POST", path: "/quitquitquit", headers: [["x-token", "t"]] } as const;
  const method: Method = { kind: "port-forward", container: "envoy", requests: [request] };
  const port = Buffer.of(15000 % 256, 15000 >> 8);
  /** A kubelet's end, which answers a request so. */
  const answers = (...messages: readonly Uint8Array[]): StreamEnd & { readonly got: string[] } => {
    const got: string[] = [];
    return {
      got,
      open(far) {
        far.send(onChannel(0, port));
        far.send(onChannel(1, port));
      },
      message(far, bytes) {
        got.push(Buffer.from(bytes).toString("latin1"));
        for (const message of messages) far.send(message);
        far.close();
      },
    };
  };
  const http = (head: string): Uint8Array => onChannel(0, `HTTP/1.1 ${head}\r\n\r\n`);

  test("the request follows the look at the pod, through a tunnel that is opened between them", async () => {
    await using cluster = withPod();
    const end = answers(http("200 OK\r\ncontent-length: 100"));
    cluster.portforward = end;
    expect((await send(cluster, method)).result).toEqual(taken);
    expect(cluster.requests).toEqual([`GET ${POD}`, `STREAM ${POD}/portforward?ports=15000 v4.channel.k8s.io`]);
    expect(end.got).toEqual([
      "\0POST /quitquitquit HTTP/1.1\r\nHost: localhost:15000\r\nUser-Agent: ebb\r\nContent-Length: 0\r\nx-token: t\r\n\r\n",
    ]);
  });

  test.each<[string, readonly Uint8Array[], EndResult]>([
    ["an answer in pieces", [onChannel(0, "HTTP/1.1 200"), onChannel(0, " OK\r\n\r"), onChannel(0, "\n")], taken],
    ["the sidecar ends before it answers", [], taken],
    ["a refusal", [http("404 Not Found")], refused(`HTTP 404: ${noPath}`)],
    [
      "an answer that breaks off",
      [onChannel(0, "HTTP/1.1 200")],
      refused("the connection was closed before the answer was complete"),
    ],
    ["no HTTP", [onChannel(0, "SSH-2.0-OpenSSH")], refused('not HTTP: "SSH-2.0-OpenSSH"')],
    [
      "without end",
      [onChannel(0, `HTTP/1.1 200 OK\r\nx: ${"x".repeat(70_000)}`)],
      refused("an answer longer than 64 KiB"),
    ],
    [
      "nobody listens",
      [onChannel(1, "an error occurred forwarding 15000 -> 15000: connect: connection refused")],
      refused(`connection refused: its admin interface is elsewhere: set ${annotation} to its URL`),
    ],
    ["something else", [onChannel(1, "no such sandbox")], refused('"no such sandbox"')],
  ])("%s", async (_, messages, result) => {
    await using cluster = withPod();
    cluster.portforward = answers(...messages);
    expect((await send(cluster, method)).result).toEqual(result);
  });

  const sidecars = ["istio-proxy", "kuma-sidecar", "consul-dataplane", "daprd", "cloud-sql-proxy", "linkerd-proxy"];
  const refusals = [...[401, 404, 405].map((code) => http(`${code} No`)), onChannel(1, "connect: connection refused")];

  test.each(sidecars)("what is to be done about %s names no flag of ebb quit", async (container) => {
    const containers = { app: ended(0), [container]: { state: running, spec: { image: "i" } } };
    await using cluster = withPod(podOf({ containers, metadata }));
    for (const refusal of refusals) {
      cluster.portforward = answers(refusal);
      const { result } = await send(cluster, { ...method, container });
      expect(result).toMatchObject({ kind: "refused", why: expect.stringMatching(/^(HTTP \d+|connection refused)/) });
      expect(JSON.stringify(result)).not.toMatch(/--(admin|quit|header|signal-process)(?![\w-])/);
    }
  });

  const late = "the API server did not open it within 500ms of the look at the pod";
  test.each<[string, number, EndResult, asked: number]>([
    ["499 ms after the look is used", 499, taken, 1],
    ["500 ms after the look is not used", 500, { kind: "unavailable", why: late }, 0],
  ])("a tunnel that opens %s", async (_, ms, result, asked) => {
    using clock = stopClock();
    await using cluster = withPod();
    const end = answers(http("200 OK"));
    cluster.portforward = end;
    cluster.answer = (_, { pathname }) => (pathname === POD ? undefined : void clock.pass(ms));
    expect((await send(cluster, method)).result).toEqual(result);
    expect(end.got).toHaveLength(asked);
  });

  test("of several requests one that is taken is enough; where none is, each reason is told once", async () => {
    await using cluster = withPod();
    let heads = ["404 Not Found", "200 OK", "404 Not Found", "500 Oops", "500 Oops", "500 Oops"];
    cluster.portforward = {
      open: (far) => void far.send(onChannel(0, port)),
      message(far) {
        far.send(http(heads[0] as string));
        heads = heads.slice(1);
      },
    };
    const both: Method = { ...method, requests: [request, request] };
    expect((await send(cluster, both)).result).toEqual(taken);
    expect((await send(cluster, both)).result).toEqual(refused(`HTTP 404: ${noPath}; HTTP 500`));
    expect((await send(cluster, both)).result).toEqual(refused("HTTP 500"));
  });

  test("what was taken stays so, whatever becomes of the next request", async () => {
    await using cluster = withPod();
    cluster.portforward = {
      open: (far) => void far.send(onChannel(0, port)),
      message(far) {
        cluster.objects.clear();
        far.send(http("200 OK"));
      },
    };
    expect((await send(cluster, { ...method, requests: [request, request] })).result).toEqual(taken);
  });
});

import { describe, expect, test } from "bun:test";
import { type HttpTarget, parseHttpTarget } from "../../../../src/core/base/address.ts";
import type { Network } from "../../../../src/core/sidecars/ownership/network.ts";
import {
  judgeNeighbour,
  judgeOwner,
  type Neighbour,
  proofPath,
  type Self,
} from "../../../../src/core/sidecars/ownership/proof.ts";
import type { SidecarName } from "../../../../src/core/sidecars/registry.ts";

function answer(body: unknown, status = 200) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { status, headers: new Map<string, string>(), body: text, isReusable: true };
}

function info(node: object) {
  return answer({ version: "a/1.40.0/Clean", state: "LIVE", command_line_options: {}, node });
}

const istioId = "sidecar~10.0.0.7~web-0.shop~shop.svc.cluster.local";

describe("what an admin interface's answer makes of it", () => {
  test.each<[string, SidecarName, ReturnType<typeof answer>, Partial<Neighbour>]>([
    ["a plain Envoy", "envoy", info({ id: "job" }), { kind: "proxy", name: "envoy" }],
    ["a mesh's Envoy, by its node", "envoy", info({ id: istioId }), { kind: "proxy", name: "istio" }],
    ["the mesh's that a port has suggested, without a node", "istio", info({}), { kind: "proxy", name: "envoy" }],
    ["an app that answers everything", "envoy", answer("<html>hello</html>"), { kind: "other" }],
    ["an app that answers JSON", "envoy", answer({ state: "LIVE" }), { kind: "other" }],
    ["an app without such a path", "envoy", answer("404 page not found", 404), { kind: "other" }],
    ["a redirect", "envoy", answer("", 302), { kind: "other" }],
    ["a server that starts", "envoy", answer("starting", 503), { kind: "silent" }],
    [
      "Linkerd",
      "linkerd",
      answer({ _pod_name: "a", _pod_ns: "b", _pod_uid: null }),
      { kind: "proxy", name: "linkerd" },
    ],
    ["an Envoy on Linkerd's port", "linkerd", info({ id: "job" }), { kind: "other" }],
  ])("%s", (_, name, answer, neighbour) => {
    expect(judgeNeighbour(name, answer)).toMatchObject(neighbour);
  });

  test("Istio's node carries its pod's annotations, of which those that are texts count", () => {
    const annotations = { "sidecar.istio.io/status": "{}", odd: 5 };
    const neighbour = judgeNeighbour("istio", info({ id: istioId, metadata: { ANNOTATIONS: annotations } }));
    const told = neighbour.kind === "proxy" ? neighbour.annotations : undefined;
    expect([...(told ?? [])]).toEqual([["sidecar.istio.io/status", "{}"]]);
  });

  test("an Envoy that does not allow the question is told apart", () => {
    const refused = judgeNeighbour("envoy", answer("request to path /server_info not allowed", 403));
    expect(refused).toMatchObject({ kind: "other", problem: expect.stringContaining("/server_info") });
  });

  test("what is asked changes nothing", () => {
    expect(proofPath("envoy")).toBe("/server_info");
    expect(proofPath("linkerd")).toBe("/env.json?_pod_name&_pod_ns&_pod_uid");
  });
});

const own: Network = { kind: "own", by: "the kubelet's /etc/hosts" };
const node: Network = { kind: "node", by: "the kubelet's /etc/hosts" };
const unknown: Network = { kind: "unknown", by: "no kubelet has written this /etc/hosts" };
const self = { name: "web-0", namespace: "shop" };
const admin = parseHttpTarget("http://localhost:9901") as HttpTarget;

function ownerOf(id: string, self: Self) {
  const neighbour = judgeNeighbour("envoy", info({ id }));
  if (neighbour.kind !== "proxy") throw new Error("no proxy");
  return judgeOwner(admin, neighbour, self);
}

describe("whose an Envoy is", () => {
  test.each<[string, string, Self]>([
    ["in a network of the pod's own, whatever it says", "job", { network: own, pod: {} }],
    ["in such a network even if it names another", "sidecar~1.1.1.1~x.y~z", { network: own, pod: self }],
    ["on the node's network if it names this pod", istioId, { network: node, pod: self }],
    ["on a network that is not known if it names this pod", istioId, { network: unknown, pod: self }],
  ])("is ours %s", (_, id, self) => {
    expect(ownerOf(id, self)).toBe("ours");
  });

  test.each<[string, string, Self, boolean, RegExp[]]>([
    [
      "a node.id that names none",
      "job",
      { network: node, pod: self },
      false,
      [
        /hostNetwork, known from the kubelet's/,
        /node\.id is "job"/,
        /this pod, "shop\/web-0"/,
        /--admin http:\/\/localhost:9901/,
        /NAME\.NAMESPACE/,
      ],
    ],
    ["no node.id", "", { network: node, pod: self }, false, [/it has no node\.id/, /--admin/]],
    [
      "a pod that does not know its name",
      istioId,
      { network: node, pod: {} },
      false,
      [/this pod's name is not known/, /downward API/, /POD_NAME/],
    ],
    ["an unknown network", "job", { network: unknown, pod: self }, false, [/no kubelet/, /--host-network=false/]],
    ["another pod's", "sidecar~1.1.1.1~web-1.shop~x", { network: node, pod: self }, true, [/which names another pod/]],
  ])("is not proved by %s, and the line says how to", (_, id, self, isOthers, words) => {
    const owner = ownerOf(id, self);
    if (owner === "ours") throw new Error("it was taken for ours");
    expect(owner.isOthers).toBe(isOthers);
    for (const word of words) expect(owner.reason).toMatch(word);
  });

  test("what it says of itself reaches no terminal raw, and is cut", () => {
    const owner = ownerOf(`\u001b[31m${"x".repeat(1000)}`, { network: node, pod: self });
    if (owner === "ours") throw new Error("it was taken for ours");
    expect(owner.reason).not.toContain("\u001b");
    expect(owner.reason.length).toBeLessThan(700);
  });
});

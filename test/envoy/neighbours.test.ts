import { describe, expect, test } from "bun:test";
import { canHaveNetwork, podUid } from "../binary/sidecars/own-network.ts";
import { childPath } from "../compiled.ts";
import { describeAgainstEnvoy, quitOf } from "./against-envoy.ts";
import { type BesideEnvoys, ebbBesideEnvoys } from "./in-network.ts";

const app = ["--", childPath(), "exit", "42"];
const self = { POD_NAME: "web-0", POD_NAMESPACE: "shop" };
const on = (port: number, host = "127.0.0.1") => ({ host, port });
const istio = (pod: string) => ({ id: `sidecar~10.0.0.7~${pod}~shop.svc.cluster.local`, cluster: "web" });

function reasonIn({ log, stderr }: BesideEnvoys, msg: string): unknown {
  const line = log.find((each) => each.msg === `ebb: ${msg}`);
  if (line === undefined) throw new Error(`no "${msg}" in: ${stderr}`);
  return line.reason;
}

describe.skipIf(!canHaveNetwork)("in a network of the pod's own (which needs root)", () => {
  describeAgainstEnvoy("a real Envoy whose admin interface is anywhere", () => {
    test.each([
      ["its usual port", on(9901), "http://localhost:9901"],
      ["any port of 127.0.0.1", on(12345), "http://127.0.0.1:12345"],
      ["any port of ::1", on(12345, "::1"), "http://[::1]:12345"],
    ])("is waited for and quit: on %s", async (_, admin, url) => {
      for (const node of [undefined, {}, { id: "gateway", cluster: "x" }]) {
        const ended = await ebbBesideEnvoys([{ admin, ...(node && { node }) }], ["run", ...app], { hosts: "own" });
        expect(quitOf(ended)).toMatchObject({ request: `POST ${url}/quitquitquit`, outcome: "exited" });
        expect(ended).toMatchObject({ code: 42, run: [false] });
      }
    });

    test("is quit, drained, shown and asked", async () => {
      const envoys = [{ admin: on(12345) }];
      const network = { hosts: "own" } as const;
      expect(await ebbBesideEnvoys(envoys, ["quit"], network)).toMatchObject({ code: 0, run: [false] });
      const drain = await ebbBesideEnvoys(envoys, ["drain", "--drain", "5s", "--min-drain", "0s", "--quit"], network);
      expect(drain).toMatchObject({ code: 0, run: [false] });
      const status = await ebbBesideEnvoys(envoys, ["status", "--json"], network);
      expect(JSON.parse(status.stdout).sidecars).toMatchObject([{ name: "envoy", envoy: { state: "LIVE" } }]);
      const request = await ebbBesideEnvoys(envoys, ["request", "/ready"], network);
      expect(request).toMatchObject({ code: 0, stdout: "LIVE\n", run: [true] });
    });

    test("is found where one is named that is elsewhere", async () => {
      const ended = await ebbBesideEnvoys([{ admin: on(12345) }], ["run", "--sidecar", "envoy", ...app], {
        hosts: "own",
      });
      expect(ended).toMatchObject({ code: 42, run: [false] });
    });
  });
});

describe.skipIf(!canHaveNetwork)("on the node's network, where two pods are (which needs root)", () => {
  describeAgainstEnvoy("a real Envoy", () => {
    test.each([
      ["of another pod, by its node.id", istio("web-1.shop"), 0],
      ["of another pod, whose name begins with this one's", { id: "web-01.shop", cluster: "x" }, 0],
      ["that names nobody", { id: "gateway", cluster: "x" }, 69],
      ["without a node", {}, 69],
    ])("%s is neither drained nor quit", async (_, node, code) => {
      for (const admin of [on(9901), on(15000), on(12345)]) {
        const network = { hosts: "node", env: self } as const;
        const envoys = [{ admin, node }];
        const run = await ebbBesideEnvoys(envoys, ["run", "--detect", "100ms", ...app], network);
        expect(run).toMatchObject({ code: 42, run: [true] });
        expect(reasonIn(run, "did not tell a proxy to quit")).toMatch(/hostNetwork.*node\.id/);
        const quit = await ebbBesideEnvoys(envoys, ["quit"], network);
        expect(quit).toMatchObject({ code, run: [true] });
        const drain = ["drain", "--drain", "1s", "--min-drain", "0s", "--quit"];
        expect(await ebbBesideEnvoys(envoys, drain, network)).toMatchObject({ code, run: [true] });
      }
    });

    test.each([
      ["Istio's node.id", istio("web-0.shop"), 15000],
      ["its node.id", { id: "web-0.shop", cluster: "x" }, 12345],
      ["a UID in its metadata", { id: "gateway", cluster: "x", metadata: { POD_UID: podUid } }, 12345],
      ["a name in its metadata", { metadata: { POD_NAME: "web-0", POD_NAMESPACE: "shop" } }, 9901],
    ])("is this pod's by %s, beside another pod's", async (_, node, port) => {
      const others = { admin: on(9999), node: istio("web-1.shop") };
      const drain = ["drain", "--drain", "5s", "--min-drain", "0s"];
      const ended = await ebbBesideEnvoys([{ admin: on(port), node }, others], drain, { hosts: "node", env: self });
      expect(ended).toMatchObject({ code: 0, run: [true, true] });
      expect(ended.stderr).toContain("draining the listeners");
    });

    test("is quit where it names this pod, and the other pod's goes on", async () => {
      const envoys = [
        { admin: on(9901), node: { id: "web-1.shop", cluster: "x" } },
        { admin: on(12345), node: { id: "web-0.shop", cluster: "x" } },
      ];
      const ended = await ebbBesideEnvoys(envoys, ["run", ...app], { hosts: "node", env: self });
      expect(ended).toMatchObject({ code: 42, run: [true, false] });
    });
  });
});

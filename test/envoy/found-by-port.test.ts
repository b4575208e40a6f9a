import { describe, expect, test } from "bun:test";
import { canHaveNetwork } from "../binary/sidecars/own-network.ts";
import { childPath } from "../compiled.ts";
import { describeAgainstEnvoy, quitOf } from "./against-envoy.ts";
import { ebbBesideEnvoys } from "./in-network.ts";

const app = ["--", childPath(), "exit", "42"];
const on = (port: number, host = "127.0.0.1") => ({ host, port });

describe.skipIf(!canHaveNetwork)("in a network of the pod's own (which needs root)", () => {
  describeAgainstEnvoy("a real Envoy on a port that is tried", () => {
    test.each([
      ["its usual port", on(9901)],
      ["8001", on(8001)],
      ["8001 of ::1", on(8001, "::1")],
    ])("is waited for and quit, whatever its node: on %s", async (_, admin) => {
      for (const node of [undefined, {}, { id: "gateway", cluster: "x" }]) {
        const ended = await ebbBesideEnvoys([{ admin, ...(node && { node }) }], ["run", ...app], { hosts: "own" });
        const request = `POST http://localhost:${admin.port}/quitquitquit`;
        expect(quitOf(ended)).toMatchObject({ request, outcome: "exited" });
        expect(ended).toMatchObject({ code: 42, run: [false] });
      }
    });

    test.each([
      ["by its name, on 8001 of all addresses", on(8001, "0.0.0.0"), ["--sidecar", "envoy"]],
      ["by its name, on 15000", on(15000), ["--sidecar", "envoy"]],
      ["by nothing, on 15000", on(15000), []],
      ["by nothing, on 8001 of all addresses", on(8001, "0.0.0.0"), []],
      ["by its admin interface, on 15000", on(15000), ["--admin", "http://localhost:15000"]],
    ])("is no Istio, and drained and quit: %s", async (_, admin, flags) => {
      const network = { hosts: "own" } as const;
      const ended = await ebbBesideEnvoys([{ admin }], ["run", ...flags, ...app], network);
      expect(ended).toMatchObject({ code: 42, run: [false] });
      const drain = ["drain", ...flags, "--drain", "5s", "--min-drain", "0s", "--quit"];
      expect(await ebbBesideEnvoys([{ admin }], drain, network)).toMatchObject({ code: 0, run: [false] });
    });

    test("is quit, drained, shown and asked", async () => {
      const envoys = [{ admin: on(8001) }];
      const network = { hosts: "own" } as const;
      expect(await ebbBesideEnvoys(envoys, ["quit"], network)).toMatchObject({ code: 0, run: [false] });
      const drain = await ebbBesideEnvoys(envoys, ["drain", "--drain", "5s", "--min-drain", "0s", "--quit"], network);
      expect(drain).toMatchObject({ code: 0, run: [false] });
      const status = await ebbBesideEnvoys(envoys, ["status", "--json"], network);
      expect(JSON.parse(status.stdout).sidecars).toMatchObject([{ name: "envoy", envoy: { state: "LIVE" } }]);
      const request = await ebbBesideEnvoys(envoys, ["request", "/ready"], network);
      expect(request).toMatchObject({ code: 0, stdout: "LIVE\n", run: [true] });
    });

    test("is left alone on any other port, unless it is named", async () => {
      const envoys = [{ admin: on(12345) }];
      const auto = await ebbBesideEnvoys(envoys, ["run", "--detect-timeout", "100ms", ...app], { hosts: "own" });
      expect(auto).toMatchObject({ code: 42, run: [true] });
      const flags = ["--admin", "http://localhost:12345"];
      const named = await ebbBesideEnvoys(envoys, ["run", ...flags, ...app], { hosts: "own" });
      expect(named).toMatchObject({ code: 42, run: [false] });
    });
  });
});

describe.skipIf(!canHaveNetwork)("on the node's network (which needs root)", () => {
  describeAgainstEnvoy("a real Envoy", () => {
    test.each([9901, 15000, 8001])("that only port %d tells of is neither drained nor quit", async (port) => {
      const envoys = [{ admin: on(port), node: { id: "gateway", cluster: "x" } }];
      const network = { hosts: "node" } as const;
      expect(await ebbBesideEnvoys(envoys, ["run", ...app], network)).toMatchObject({ code: 42, run: [true] });
      expect(await ebbBesideEnvoys(envoys, ["quit"], network)).toMatchObject({ code: 69, run: [true] });
      const drain = ["drain", "--drain", "1s", "--min-drain", "0s", "--quit"];
      expect(await ebbBesideEnvoys(envoys, drain, network)).toMatchObject({ code: 69, run: [true] });
    });

    test("that is named is quit, and the other pod's goes on", async () => {
      const envoys = [{ admin: on(9901) }, { admin: on(12345) }];
      const flags = ["--admin", "http://localhost:12345"];
      const ended = await ebbBesideEnvoys(envoys, ["run", ...flags, ...app], { hosts: "node" });
      expect(ended).toMatchObject({ code: 42, run: [true, false] });
    });
  });
});

import { describe, expect, test } from "bun:test";
import { canHaveNetwork } from "../binary/sidecars/own-network.ts";
import { childPath } from "../harness/compiled.ts";
import { isQuitLine, lineOf } from "../harness/ebb.ts";
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
        const ended = await ebbBesideEnvoys([{ admin, ...(node && { node }) }], ["run", ...app], "own");
        const request = `POST http://localhost:${admin.port}/quitquitquit`;
        expect(quitOf(ended)).toMatchObject({ request, outcome: "exited" });
        expect(ended).toMatchObject({ code: 42, states: [undefined] });
      }
    });

    test.each([
      ["by its name, on 8001 of all addresses", on(8001, "0.0.0.0"), ["--sidecar", "envoy"]],
      ["by its name, on 15000", on(15000), ["--sidecar", "envoy"]],
      ["by nothing, on 15000", on(15000), []],
      ["by nothing, on 8001 of all addresses", on(8001, "0.0.0.0"), []],
      ["by its admin interface, on 15000", on(15000), ["--admin", "http://localhost:15000"]],
    ])("is no Istio, and drained and quit: %s", async (_, admin, flags) => {
      const ended = await ebbBesideEnvoys([{ admin }], ["run", ...flags, ...app], "own");
      expect(ended).toMatchObject({ code: 42, states: [undefined] });
      const drain = ["drain", ...flags, "--drain", "5s", "--min-drain", "0s", "--then-quit"];
      expect(await ebbBesideEnvoys([{ admin }], drain, "own")).toMatchObject({ code: 0, states: [undefined] });
    });

    test("is quit by the first ebb quit, and gone for the second", async () => {
      const twice = "/proc/1/exe quit --sidecar envoy && exec /proc/1/exe quit --sidecar envoy";
      const args = ["run", "--sidecar", "none", "--", "sh", "-c", twice];
      const ended = await ebbBesideEnvoys([{ admin: on(9901) }], args, "own");
      expect(ended.log.filter(isQuitLine)).toMatchObject([
        { msg: "ebb: asked the sidecar to exit", outcome: "exited" },
        { msg: "ebb: the sidecar is gone, or was never here", level: "info" },
      ]);
      expect(ended).toMatchObject({ code: 0, states: [undefined] });
    });

    test("is quit, drained, shown and asked", async () => {
      const envoys = [{ admin: on(8001) }];
      expect(await ebbBesideEnvoys(envoys, ["quit"], "own")).toMatchObject({ code: 0, states: [undefined] });
      const drain = await ebbBesideEnvoys(
        envoys,
        ["drain", "--drain", "5s", "--min-drain", "0s", "--then-quit"],
        "own",
      );
      expect(drain).toMatchObject({ code: 0, states: [undefined] });
      const status = await ebbBesideEnvoys(envoys, ["status", "--json"], "own");
      expect(JSON.parse(status.stdout).sidecars).toMatchObject([{ name: "envoy", envoy: { state: "LIVE" } }]);
      const request = await ebbBesideEnvoys(envoys, ["request", "/ready"], "own");
      expect(request).toMatchObject({ code: 0, stdout: "LIVE\n", states: ["LIVE"] });
    });

    test("is a plain one on the port of a mesh's agent, too", async () => {
      for (const port of [9902, 15021, 20600]) {
        const envoys = [{ admin: on(port) }];
        const run = await ebbBesideEnvoys(envoys, ["run", ...app], "own");
        expect(lineOf(run, "found")).toMatchObject({ sidecars: ["envoy"], by: `port ${port}` });
        expect(quitOf(run)).toMatchObject({ outcome: "exited" });
        expect(run).toMatchObject({ code: 42, states: [undefined] });
        const quit = await ebbBesideEnvoys(envoys, ["quit"], "own");
        expect(quit).toMatchObject({ code: 0, states: [undefined] });
      }
    });

    test("is left alone on any other port, unless it is named, and the log says how to name it", async () => {
      const envoys = [{ admin: on(9999) }];
      const auto = await ebbBesideEnvoys(envoys, ["run", "--detect-timeout", "100ms", ...app], "own");
      expect(auto).toMatchObject({ code: 42, states: ["LIVE"] });
      const flags = ["--admin", "http://localhost:9999"];
      const how = expect.stringContaining(flags.join(" "));
      expect(lineOf(auto, "no sidecar found")).toMatchObject({ level: "warn", onLoopback: [9999], how });
      const named = await ebbBesideEnvoys(envoys, ["run", ...flags, ...app], "own");
      expect(named).toMatchObject({ code: 42, states: [undefined] });
      const quit = await ebbBesideEnvoys(envoys, ["quit", "--sidecar", "envoy"], "own");
      expect(quitOf(quit)).toMatchObject({ request: "POST http://localhost:9999/quitquitquit", outcome: "exited" });
      expect(quit).toMatchObject({ code: 0, states: [undefined] });
    });
  });
});

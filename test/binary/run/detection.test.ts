import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { childPath } from "../../harness/compiled.ts";
import { ebbPath, isQuitLine, temporaryFolder } from "../../harness/ebb.ts";
import type { Port } from "../../stand-in/sidecars.ts";
import { canHaveNetwork, ebbBeside, found } from "../sidecars/own-network.ts";

const istio: readonly Port[] = [{ port: 15000 }, { port: 15020 }, { port: 15021 }];
const app = ["--", childPath(), "exit", "5"];

describe.skipIf(!canHaveNetwork)("auto, in a network of its own (which needs root)", () => {
  test.each<[string, readonly Port[], string, string]>([
    ["Istio's ports", istio, "istio", "15020 POST /quitquitquit"],
    ["Linkerd's port", [{ port: 4191 }], "linkerd", "4191 POST /shutdown"],
    ["Envoy's usual port", [{ port: 9901 }], "envoy", "9901 POST /quitquitquit"],
    ["a port that listens on IPv6 alone", [{ port: 4191, host: "::1" }], "linkerd", "4191 POST /shutdown"],
    ["Kuma's readiness port", [{ port: 9902 }, { port: 9901 }], "kuma", "9901 POST /quitquitquit"],
    ["Consul's lifecycle port", [{ port: 19000 }, { port: 20600 }], "consul", "19000 POST /quitquitquit"],
    ["a sidecar that comes late", [{ port: 9901, afterMs: 400 }], "envoy", "9901 POST /quitquitquit"],
  ])("finds, waits for and quits %s", async (_, sidecars, name, request) => {
    const ended = await ebbBeside(sidecars, ["run", ...app]);
    expect(ended).toMatchObject({ code: 5, requests: [request] });
    expect(found(ended)).toEqual([name]);
  });

  test("starts the command when --detect-timeout is over and nothing was found, and says so", async () => {
    const ended = await ebbBeside([], ["run", "--detect-timeout", "100ms", ...app]);
    expect(ended.code).toBe(5);
    const messages = ended.log.map(({ msg }) => msg);
    expect(messages.indexOf("ebb: started the command")).toBeGreaterThan(messages.indexOf("ebb: no sidecar found"));
    expect(ended.log[0]?.lookedMs).toBeGreaterThanOrEqual(100);
  });

  test("quits a sidecar that came after --detect-timeout was over, too", async () => {
    const untilThere = [ebbPath, "wait", "--quiet", "--sidecar", "none", "tcp://localhost:9901"];
    const late = [{ port: 9901, afterMs: 500 }];
    const ended = await ebbBeside(late, ["run", "--detect-timeout", "50ms", "--", ...untilThere]);
    expect(ended).toMatchObject({ code: 0, requests: ["9901 POST /quitquitquit"] });
    const messages = ended.log.map(({ msg }) => msg.replace("ebb: ", ""));
    expect(messages).toEqual(["no sidecar found", "started the command", "found", "asked the sidecar to exit", "done"]);
  });

  test("says once that there is none", async () => {
    const { log } = await ebbBeside([], ["run", "--detect-timeout", "50ms", ...app]);
    expect(log.map(({ msg }) => msg)).toEqual(["ebb: no sidecar found", "ebb: started the command", "ebb: done"]);
  });

  test.each<[string, string, string, readonly Port[], readonly string[]]>([
    ["linkerd.io/proxy-version", "edge-25.1.1", "linkerd", [{ port: 4191 }], ["4191 POST /shutdown"]],
    ["sidecar.istio.io/status", '{\\"containers\\":[\\"istio-proxy\\"]}', "istio", istio, ["15020 POST /quitquitquit"]],
    ["sidecar.istio.io/status", '{\\"initContainers\\":[\\"istio-init\\",\\"istio-proxy\\"]}', "istio", istio, []],
  ])(
    "reads the pod's annotations: %s=%s is %s, and a native sidecar is never quit",
    async (key, value, name, ports, requests) => {
      using folder = temporaryFolder();
      const path = join(folder.path, "annotations");
      writeFileSync(path, `app="x"\n${key}="${value}"\n`);
      const late = ports.map((port) => ({ ...port, afterMs: 300 }));
      const ended = await ebbBeside(late, ["run", "--pod-annotations", path, ...app]);
      expect(ended).toMatchObject({ code: 5, requests });
      expect(found(ended)).toEqual([name]);
      expect(ended.log.map(({ msg }) => msg)).toContain("ebb: ready");
    },
  );

  test("waits for a companion that ebb inject has made native, and never quits it", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "annotations");
    writeFileSync(path, 'ebb.dev/native="true,cloud-sql-proxy"\n');
    const flags = ["--pod-annotations", path, "--detect-timeout", "50ms"];
    const ended = await ebbBeside([{ port: 5432, afterMs: 500 }], ["run", ...flags, ...app]);
    expect(ended).toMatchObject({ code: 5, requests: [] });
    const messages = ended.log.map(({ msg }) => msg.replace("ebb: ", ""));
    expect(messages.filter((each) => each !== "waiting until ready")).toEqual([
      ...["found", "ready", "started the command", "done"],
    ]);
  });

  test.each<[string, Record<string, string>, readonly Port[], readonly string[]]>([
    ["ISTIO_QUIT_API", { ISTIO_QUIT_API: "http://localhost:15020" }, istio, ["15020 POST /quitquitquit"]],
    ["ENVOY_ADMIN_API", { ENVOY_ADMIN_API: "http://localhost:19000" }, [{ port: 19000 }], ["19000 POST /quitquitquit"]],
    [
      "ENVOY_ADMIN_API of Istio, with ISTIO_QUIT_API",
      { ENVOY_ADMIN_API: "http://127.0.0.1:15000", ISTIO_QUIT_API: "http://127.0.0.1:15020" },
      [{ port: 15000 }, { port: 15020 }],
      ["15020 POST /quitquitquit"],
    ],
  ])("is told by variables: %s", async (_, env, ports, requests) => {
    const late = ports.map((port) => ({ ...port, afterMs: 200 }));
    const ended = await ebbBeside(late, ["run", ...app], { env });
    expect(ended).toMatchObject({ code: 5, requests });
  });

  test("none: ports that listen are nobody's", async () => {
    const ended = await ebbBeside(istio, ["run", "--sidecar", "none", "--", "sleep", "0.2"]);
    expect(ended).toMatchObject({ code: 0, requests: [] });
    expect(found(ended)).toBeUndefined();
  });
});

describe.skipIf(!canHaveNetwork)("a refused quit is explained", () => {
  test.each<[string, number, number, RegExp]>([
    ["istio", 15020, 403, /pod's own loopback/],
    ["linkerd", 4191, 404, /enableShutdownEndpoint=true.*config\.linkerd\.io\/proxy-admin-shutdown: enabled/],
  ])("%s on %d: HTTP %d", async (name, port, status, meaning) => {
    const ports = [{ port, quit: status }, { port: 15021 }];
    const ended = await ebbBeside(ports, ["run", "--sidecar", name, ...app]);
    const report = ended.log.find(isQuitLine);
    expect(report).toMatchObject({ level: "warn", sidecar: name, status, outcome: expect.stringMatching(meaning) });
    expect(ended).toMatchObject({ code: 5, requests: [expect.stringContaining(`${port} POST`)] });
  });
});

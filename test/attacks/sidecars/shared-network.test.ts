import { describe, expect, test } from "bun:test";
import { canHaveNetwork, ebbBeside, posts } from "../../binary/sidecars/own-network.ts";
import { describeAgainstEnvoy } from "../../envoy/against-envoy.ts";
import { ebbBesideEnvoys, type InnerEnvoy } from "../../envoy/in-network.ts";
import { childPath } from "../../harness/compiled.ts";
import { inParallel } from "../../harness/ebb.ts";
import type { Port } from "../../stand-in/sidecars.ts";

const app = ["--", childPath(), "exit", "5"];
const fast = ["--drain", "2s", "--min-drain", "0s"];
const quick = ["--quit-timeout", "3s"];

/** Everything that would end or drain a proxy. */
const acts: readonly (readonly string[])[] = [
  ["run", "--detect-timeout", "100ms", "--wait-timeout", "300ms", "--on-wait-timeout", "start", ...quick],
  ["run", "--detect-timeout", "100ms", "--wait-timeout", "300ms", "--on-wait-timeout", "start", ...fast, ...quick],
  ["quit", ...quick],
  ["drain", ...fast],
  ["drain", ...fast, "--then-quit", ...quick],
  ["request", "POST", "/quitquitquit"],
];

function callOf(act: readonly string[], flags: readonly string[]): readonly string[] {
  const [command = "", ...rest] = act;
  const call = command === "request" ? [command, ...flags, ...rest] : [...act, ...flags];
  return command === "run" ? [...call, ...app] : call;
}

/** The same, but fewer: to start a real Envoy takes its time. */
const few = acts.filter((_, index) => index !== 0 && index !== 4);

/** What it means that nothing was done: `run` has its app's code, a command that was to do something has not. */
function idleCode([command]: readonly string[]): number {
  return command === "run" ? 5 : 69;
}

/** The exit code where only a name is given. */
function unnamedCode([command]: readonly string[]): number {
  return command === "run" ? 64 : 69;
}

describe.skipIf(!canHaveNetwork)("two pods on their node's network (which needs root)", () => {
  describeAgainstEnvoy("with real Envoys", () => {
    const envoyOf = (port: number, id?: string): InnerEnvoy => ({
      admin: { host: "127.0.0.1", port },
      ...(id && { node: { id, cluster: "x" } }),
    });
    const [ours, others] = ["web-0.shop", "web-1.shop"];

    test.each<[string, InnerEnvoy]>([
      ["another pod's", envoyOf(9901, others)],
      ["one that names this pod: a port is not believed whatever answers", envoyOf(9901, ours)],
      ["one that names nothing", envoyOf(15000)],
    ])("nothing is done to an Envoy that only its port tells of: %s", async (_, envoy) => {
      const ended = await inParallel(few, (act) => ebbBesideEnvoys([envoy], callOf(act, []), "node"), 3);
      expect(ended.map(({ code, states }) => ({ code, states }))).toEqual(
        few.map((act) => ({ code: idleCode(act), states: ["LIVE"] })),
      );
      for (const { stderr } of ended) expect(stderr).toMatch(/--sidecar .*--admin/);
    });

    test.each<[string, InnerEnvoy, readonly string[]]>([
      ["its name with its port", envoyOf(9901, ours), ["--sidecar", "envoy:9901"]],
      ["its address", envoyOf(9911, ours), ["--admin", "http://localhost:9911"]],
    ])("what the user names is believed, and nothing else is touched: %s", async (_, own, flags) => {
      const envoys = [envoyOf(15000, others), own];
      const ended = await inParallel(few, (act) => ebbBesideEnvoys(envoys, callOf(act, flags), "node"), 3);
      expect(ended.map(({ states }) => states[0])).toEqual(few.map(() => "LIVE"));
      expect(ended.map(({ states }) => states[1])).toEqual([undefined, undefined, "DRAINING", undefined]);
    });

    test("a name without an address is not enough", async () => {
      const ended = await inParallel(
        few,
        (act) => ebbBesideEnvoys([envoyOf(9901)], callOf(act, ["--sidecar", "envoy"]), "node"),
        3,
      );
      expect(ended.map(({ code, states }) => ({ code, states }))).toEqual(
        few.map((act) => ({ code: unnamedCode(act), states: ["LIVE"] })),
      );
      for (const { stderr } of ended) expect(stderr).toMatch(/--sidecar envoy:PORT or --admin/);
    });

    test("a call in the name of pilot-agent or linkerd-await names its mesh's proxy and its port", async () => {
      const envoys = [envoyOf(9901, others), envoyOf(15000, ours)];
      const asked = await ebbBesideEnvoys(envoys, ["pilot-agent", "request", "POST", "quitquitquit"], "node");
      expect(asked).toMatchObject({ code: 0, states: ["LIVE", undefined] });
      const flags = ["--shutdown", "--timeout=300ms", "--timeout-fatal=false"];
      expect(await ebbBesideEnvoys(envoys, ["linkerd-await", ...flags, ...app], "node")).toMatchObject({
        code: 5,
        states: ["LIVE", "LIVE"],
      });
    });
  });

  const node = { hosts: "node" } as const;

  /** What each kind listens on; the request of `ebb quit` where it is named, and where its admin port is. */
  const kinds: readonly (readonly [string, readonly Port[], byName: string, byPort: string])[] = [
    [
      "istio",
      [{ port: 15000 }, { port: 15020 }, { port: 15021 }],
      "15020 POST /quitquitquit",
      "15000 POST /quitquitquit",
    ],
    ["kuma", [{ port: 9901 }, { port: 9902 }], "9901 POST /quitquitquit", "9901 POST /quitquitquit"],
    ["consul", [{ port: 19000 }, { port: 20600 }], "19000 POST /quitquitquit", "19000 POST /quitquitquit"],
    ["linkerd", [{ port: 4190 }, { port: 4191 }], "4191 POST /shutdown", "4191 POST /shutdown"],
    ["envoy", [{ port: 9901 }], "9901 POST /quitquitquit", "9901 POST /quitquitquit"],
    ["dapr", [{ port: 3500 }], "3500 POST /v1.0/shutdown", "3500 POST /v1.0/shutdown"],
    ["vault-agent", [{ port: 8200 }], "8200 POST /agent/v1/quit", "8200 POST /agent/v1/quit"],
    ["cloud-sql-proxy", [{ port: 9091 }], "9091 POST /quitquitquit", "9091 POST /quitquitquit"],
  ];

  test.each(kinds)("%s: its ports alone are not believed", async (_, ports) => {
    for (const hosts of ["node", "machine"] as const) {
      const ended = await inParallel(acts, (act) => ebbBeside(ports, callOf(act, []), { hosts }), 3);
      expect(ended.map(({ requests }, index) => [acts[index], requests])).toEqual(acts.map((act) => [act, []]));
    }
  });

  test.each(kinds)("%s: its name is no address on the node's network", async (name, ports, byName, byPort) => {
    const ended = await inParallel(acts, (act) => ebbBeside(ports, callOf(act, ["--sidecar", name]), node), 3);
    expect(ended.map(({ requests }, index) => [acts[index], requests])).toEqual(acts.map((act) => [act, []]));
    const elsewhere = await ebbBeside(ports, ["quit", "--sidecar", name], { hosts: "machine" });
    expect(elsewhere).toMatchObject({ code: 0, requests: [byName] });
    const named = await ebbBeside(ports, ["quit", "--sidecar", `${name}:${byPort.split(" ")[0]}`], node);
    expect(named).toMatchObject({ code: 0, requests: [byPort] });
  });

  test("a drain that another pod has begun is not taken back", async () => {
    const draining: Port = { port: 9901, node: { id: "web-1.shop" }, readyForMs: 0 };
    const flags = ["--wait-timeout", "1s", "--on-wait-timeout", "start", ...fast, ...quick];
    const ended = await ebbBeside([draining], ["run", ...flags, ...app], node);
    expect(ended).toMatchObject({ code: 5, requests: [] });
    const ours = await ebbBeside([draining], ["run", "--sidecar", "envoy:9901", ...flags, ...app], node);
    expect(posts(ours)).toContain("9901 POST /healthcheck/ok");
  });

  test("an app's own /etc/hosts, mounted over the kubelet's, shows nothing", async () => {
    // the kubelet's header in a file that no kubelet has mounted
    const quit = await ebbBeside([{ port: 9901 }], ["quit"], { hosts: "copied" });
    expect(quit).toMatchObject({ code: 69, requests: [] });
  });
});

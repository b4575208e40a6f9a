import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { canHaveNetwork, ebbBeside, type InNetwork } from "../../binary/sidecars/own-network.ts";
import { childPath } from "../../compiled.ts";
import { describeAgainstEnvoy } from "../../envoy/against-envoy.ts";
import { inParallel, temporaryFolder } from "../../harness.ts";
import type { Port } from "../../stand-in/sidecars.ts";
import { ebbBesidePods, type PodEnvoy } from "./two-pods.ts";

const app = ["--", childPath(), "exit", "5"];
const self = { POD_NAME: "web-0", POD_NAMESPACE: "shop" };
const fast = ["--drain", "2s", "--min-drain", "0s"];
const quick = ["--quit-timeout", "3s"];

/** Everything that would end or drain a proxy. */
const acts: readonly (readonly string[])[] = [
  ["run", "--detect", "100ms", "--wait-timeout", "300ms", "--on-wait-timeout", "start", ...quick],
  ["run", "--detect", "100ms", "--wait-timeout", "300ms", "--on-wait-timeout", "start", ...fast, ...quick],
  ["quit", ...quick],
  ["drain", ...fast],
  ["drain", ...fast, "--quit", ...quick],
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

describe.skipIf(!canHaveNetwork)("two pods on their node's network (which needs root)", () => {
  describeAgainstEnvoy("with real Envoys", () => {
    const ours = { pod: "this", port: 9911, id: "web-0.shop" } as const;
    const others = { pod: "other", port: 9901, id: "web-1.shop" } as const;
    const nobodys = { pod: "other", port: 9901 } as const;

    /** How ebb is told of Envoys, which of them are there, and what each is in the end; the code where that is another. */
    const matrix: readonly (readonly [string, readonly string[], readonly PodEnvoy[], readonly string[]])[] = [
      ["by nothing: another pod's", [], [others], ["LIVE"]],
      ["by nothing: one that names nobody", [], [nobodys], ["LIVE"]],
      ["by its name: another pod's is where it should be", ["--sidecar", "envoy"], [others], ["LIVE"]],
      ["by another's name: a mesh's is none", ["--sidecar", "linkerd"], [{ ...others, port: 4191 }], ["LIVE"]],
    ];

    test.each(matrix)("nothing is done to an Envoy that is told %s", async (_, flags, envoys, states) => {
      const ended = await inParallel(few, (act) => ebbBesidePods(envoys, callOf(act, flags), { env: self }), 3);
      const isOthers = flags.length === 0 && envoys[0]?.id !== undefined;
      expect(ended.map((each) => ({ code: each.code, states: each.states }))).toEqual(
        few.map((act) => ({
          code: isOthers && act[0] !== "request" ? (act[0] === "run" ? 5 : 0) : idleCode(act),
          states,
        })),
      );
      for (const { stderr } of ended.slice(1)) expect(stderr).toMatch(isOthers ? /another pod/ : /--admin/);
    });

    test.each<[string, readonly string[]]>([
      ["nothing", []],
      ["its name", ["--sidecar", "envoy"]],
    ])("this pod's is found beside another's by its node.id: told by %s", async (_, flags) => {
      const ended = await inParallel(few, (act) => ebbBesidePods([others, ours], callOf(act, flags), { env: self }), 3);
      expect(ended.map(({ states }) => states[0])).toEqual(few.map(() => "LIVE"));
      expect(ended.map(({ states }) => states[1])).toEqual([undefined, undefined, "DRAINING", undefined]);
    });

    test("an address is proof", async () => {
      const flags = ["--admin", "http://localhost:9901"];
      const ended = await inParallel(few, (act) => ebbBesidePods([nobodys], callOf(act, flags), { env: self }), 3);
      expect(ended.map(({ states }) => states[0])).toEqual([undefined, undefined, "DRAINING", undefined]);
    });

    test("hooks in the name of pilot-agent and linkerd-await reach nobody else's", async () => {
      const calls = [
        ["pilot-agent", "request", "POST", "quitquitquit"],
        ["linkerd-await", "--shutdown", "--timeout=300ms", "--timeout-fatal=false", ...app],
      ];
      const istio = { pod: "other", port: 15000, id: "sidecar~10.0.0.7~web-1.shop~x.local" } as const;
      const linkerd = { ...others, port: 4191 };
      const ended = await inParallel(calls, (call) => ebbBesidePods([istio, linkerd], call, { env: self }), 2);
      expect(ended.map(({ code, states }) => ({ code, states }))).toEqual([
        { code: 69, states: ["LIVE", "LIVE"] },
        { code: 5, states: ["LIVE", "LIVE"] },
      ]);
      expect(ended[0]?.stderr).toContain("another pod");
    });
  });

  const istioOf = (pod: string) => ({ id: `sidecar~10.0.0.7~${pod}.shop~shop.svc.cluster.local` });
  const kumaOf = (pod: string) => ({ id: `default.${pod}.shop`, metadata: { "dataplane.proxyType": "dataplane" } });
  const linkerdOf = (pod: string) => ({ _pod_name: pod, _pod_ns: "shop", _pod_uid: null });
  const node = { hosts: "node", env: self } as const;

  /** What each kind listens on; the requests of `ebb quit` where it names this pod. */
  const kinds: readonly (readonly [string, (pod: string) => readonly Port[], string])[] = [
    [
      "istio",
      (pod) => [{ port: 15000, node: istioOf(pod) }, { port: 15020 }, { port: 15021 }],
      "15000 POST /quitquitquit",
    ],
    ["kuma", (pod) => [{ port: 9901, node: kumaOf(pod) }, { port: 9902 }], "9901 POST /quitquitquit"],
    ["linkerd", (pod) => [{ port: 4190 }, { port: 4191, pod: linkerdOf(pod) }], "4191 POST /shutdown"],
    ["envoy", (pod) => [{ port: 9901, node: { id: `${pod}.shop` } }], "9901 POST /quitquitquit"],
  ];

  test.each(kinds)(
    "%s: by its ports or its name, nothing of another pod's is touched",
    async (name, portsOf, request) => {
      const tries = [[], ["--sidecar", name]].flatMap((flags) => acts.map((act) => callOf(act, flags)));
      const ended = await inParallel(tries, (call) => ebbBeside(portsOf("web-1"), call, node), 3);
      expect(ended.map(({ requests }, index) => [tries[index], requests])).toEqual(tries.map((call) => [call, []]));
      const quits = [["quit"], ["quit", "--sidecar", name]];
      const own = await inParallel(quits, (call) => ebbBeside(portsOf("web-0"), call, node), 2);
      expect(own.map(({ code, requests }) => ({ code, requests }))).toEqual(
        quits.map(() => ({ code: 0, requests: [request] })),
      );
    },
  );

  const companions: readonly (readonly [string, number])[] = [
    ["dapr", 3500],
    ["cloud-sql-proxy", 9091],
    ["vault-agent", 8200],
  ];

  test.each(companions)("%s: its port alone tells nothing", async (_, port) => {
    const ended = await inParallel(acts, (act) => ebbBeside([{ port, app: 200 }], callOf(act, []), node), 3);
    for (const { requests } of ended)
      expect(requests.filter((each) => each !== `${port} GET /server_info`)).toEqual([]);
  });

  test("another pod's pilot-agent is not told where only the Envoy is proved", async () => {
    const ports = [{ port: 15500, node: istioOf("web-0") }, { port: 15020 }, { port: 15021 }];
    const quit = await ebbBeside(ports, ["quit"], node);
    expect(quit).toMatchObject({ code: 0, requests: ["15500 POST /quitquitquit"] });
    const given = await ebbBeside(ports, ["quit", "--sidecar", "istio", "--admin", "http://localhost:15500"], node);
    expect(given).toMatchObject({ code: 0, requests: ["15500 POST /quitquitquit"] });
  });

  test.each<[string, string]>([
    ["an annotation", 'kuma.io/sidecar-injected="true"\n'],
    ["an annotation that says where", 'kuma.io/sidecar-injected="true"\nkuma.io/envoy-admin-port="9901"\n'],
  ])("%s is proof, unless who is there names another pod", async (_, annotations) => {
    using folder = temporaryFolder();
    const path = join(folder.path, "annotations");
    await Bun.write(path, annotations);
    const call = ["quit", "--pod-annotations", path];
    const others = await ebbBeside([{ port: 9901, node: kumaOf("web-1") }, { port: 9902 }], call, node);
    expect(others).toMatchObject({ code: 69, requests: [] });
    expect(others.stderr).toMatch(/another pod.*--admin/);
    const nobodys = await ebbBeside([{ port: 9901, node: {} }, { port: 9902 }], call, node);
    expect(nobodys).toMatchObject({ code: 0, requests: ["9901 POST /quitquitquit"] });
  });

  test("a drain that another pod has begun is not taken back", async () => {
    const draining: Port = { port: 9901, node: { id: "web-1.shop" }, readyForMs: 0 };
    const flags = ["--sidecar", "envoy", "--wait-timeout", "1s", "--on-wait-timeout", "start", ...fast, ...quick];
    const ended = await ebbBeside([draining], ["run", ...flags, ...app], node);
    expect(ended).toMatchObject({ code: 5, requests: [] });
    const ours = await ebbBeside([{ ...draining, node: { id: "web-0.shop" } }], ["run", ...flags, ...app], node);
    expect(posts(ours)).toContain("9901 POST /healthcheck/ok");
  });

  test("what has proved itself before is asked again: its port is another pod's by now", async () => {
    const seen = `until ( exec 3<>/dev/tcp/127.0.0.1/9901; printf 'GET /server_info HTTP/1.0\\r\\nHost: a\\r\\n\\r\\n' >&3; grep -q web-1 <&3 ) 2>/dev/null; do sleep 0.05; done`;
    const ports: readonly Port[] = [
      { port: 9901, node: { id: "web-0.shop" }, goesAfterMs: 1000 },
      { port: 9901, node: { id: "web-1.shop" }, afterMs: 1200 },
    ];
    const ended = await ebbBeside(ports, ["run", "--", "/bin/bash", "-c", seen], node);
    expect(ended).toMatchObject({ code: 0, requests: [] });
    expect(ended.stderr).toContain("another pod");
  });

  test("where nobody is proved, request asks nobody", async () => {
    const ended = await ebbBeside([{ port: 15000, app: 503 }], ["request", "POST", "/quitquitquit"], node);
    expect(ended).toMatchObject({ code: 69, requests: ["15000 GET /server_info"] });
    expect(ended.stderr).toContain("set --admin");
  });
});

function posts({ requests }: InNetwork): readonly string[] {
  return requests.filter((request) => request.includes(" POST "));
}

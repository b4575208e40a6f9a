import { describe, expect, test } from "bun:test";
import { describeTarget } from "../../../../../src/shared/core/address.ts";
import { foundByName, parseChoice } from "../../../../../src/shared/sidecars/core/choice.ts";
import { onNode, planSidecars } from "../../../../../src/shared/sidecars/core/plan.ts";
import { unnamedFor, unnamedIn } from "../../../../../src/shared/sidecars/core/unnamed.ts";
import { type Given, inWords, must, type Pod, urlsOf } from "./planned.ts";

/** What is planned on the node's network for the sidecars that a value of `--sidecar` names. */
function planned(names: string, { env = {}, annotations = {}, ...given }: Pod & Given = {}) {
  const pod = { env, annotations: new Map(Object.entries(annotations)) };
  const found = foundByName(pod, must(parseChoice(names)).named).map(onNode);
  const urls = urlsOf(given);
  const all = { found, sidecars: planSidecars(found, urls) };
  const acts = (["wait", "drain", "quit"] as const).filter((act) => unnamedFor([act], all, urls).length > 0);
  return { ...all, acts: acts.join(" "), without: unnamedIn(all, urls).join(" ") };
}

function lines({ sidecars }: ReturnType<typeof planned>): readonly string[] {
  return sidecars.map((one) => {
    const admin = one.envoy === undefined ? [] : [`admin ${describeTarget(one.envoy.admin)}`];
    return [inWords(one), ...admin].join("; ").replaceAll("http://localhost:", ":");
  });
}

describe("on the node's network, what is named is asked, and nothing else:", () => {
  test.each<[string, string, (Pod & Given)?]>([
    ["envoy", "envoy"],
    ["envoy:9911", "envoy; :9911/ready; POST :9911/quitquitquit; admin :9911/"],
    [
      "envoy",
      "envoy; unix:/a.sock /ready; POST unix:/a.sock /quitquitquit; admin unix:/a.sock /",
      { admin: "unix:/a.sock" },
    ],
    ["envoy", "envoy; POST :9911/bye", { quit: ["http://localhost:9911/bye"] }],
    ["envoy", "envoy; signal envoy", { signalProcess: ["envoy"] }],
    ["envoy:9911", "envoy; :9911/server_info; POST :9911/quitquitquit; admin :9911/", { readyPath: "/server_info" }],
    ["envoy", "envoy", { readyPath: "/server_info" }],
    ["istio", "istio"],
    ["istio:15000", "istio; :15000/ready; POST :15000/quitquitquit; admin :15000/"],
    ["istio", "istio; POST :16020/quitquitquit", { annotations: { "status.sidecar.istio.io/port": "16020" } }],
    ["istio", "istio", { annotations: { "status.sidecar.istio.io/port": "0" } }],
    [
      "istio:15001",
      "istio; :15001/ready; POST :16020/quitquitquit; admin :15001/",
      { annotations: { "status.sidecar.istio.io/port": "16020" } },
    ],
    ["linkerd", "linkerd"],
    [
      "linkerd",
      "linkerd; :5191/ready; POST :5191/shutdown",
      { annotations: { "config.linkerd.io/admin-port": "5191" } },
    ],
    ["kuma", "kuma"],
    ["kuma:9901", "kuma; :9901/ready; POST :9901/quitquitquit; admin :9901/"],
    [
      "kuma",
      "kuma; :9999/ready; POST :9999/quitquitquit; admin :9999/",
      { annotations: { "kuma.io/envoy-admin-port": "9999" } },
    ],
    ["consul", "consul"],
    ["consul", "consul", { annotations: { "consul.hashicorp.com/connect-service": "a,b" } }],
    ["consul:19000", "consul; :19000/ready; POST :19000/quitquitquit; admin :19000/"],
    ["dapr", "dapr"],
    [
      "dapr",
      "dapr; :3500/v1.0/healthz/outbound; POST :3500/v1.0/shutdown",
      { env: { DAPR_HTTP_PORT: "3500", DAPR_API_TOKEN: "s3cret" } },
    ],
    [
      "vault-agent",
      "vault-agent; POST :8300/agent/v1/quit",
      { annotations: { "vault.hashicorp.com/agent-cache-listener-port": "8300" } },
    ],
    ["cloud-sql-proxy", "cloud-sql-proxy"],
    ["cloud-sql-proxy:9092", "cloud-sql-proxy; tcp://localhost:9092; POST :9092/quitquitquit"],
    [
      "cloud-sql-proxy",
      "cloud-sql-proxy; tcp://localhost:9091; POST :9091/q",
      { env: { CSQL_PROXY_QUIT_URLS: "http://localhost:9091/q" } },
    ],
    ["envoy", "envoy, native", { annotations: { "ebb.dev/native": "envoy" } }],
    ["envoy:9911", "envoy, native; :9911/ready; admin :9911/", { annotations: { "ebb.dev/native": "envoy" } }],
  ])("--sidecar %s: %s", (names, expected, given = {}) => {
    expect(lines(planned(names, given))).toEqual([expected]);
  });

  test("an admin interface is that of the proxy, not of the companion beside it", () => {
    expect(lines(planned("envoy,dapr", { admin: "http://localhost:9911" }))).toEqual([
      "envoy; :9911/ready; POST :9911/quitquitquit; admin :9911/",
      "dapr",
    ]);
  });

  test("Dapr's token goes with its quit", () => {
    const [dapr] = planned("dapr", { env: { DAPR_HTTP_PORT: "3500", DAPR_API_TOKEN: "s3cret" } }).sidecars;
    expect(dapr?.quits.map(({ headers }) => headers)).toEqual([[["dapr-api-token", "s3cret"]]] as never);
  });

  test("no port is taken for one that is always open", () => {
    const { sidecars } = planned("istio:15000");
    expect(sidecars.map(({ alwaysOpen }) => alwaysOpen)).toEqual([undefined]);
  });
});

describe("what cannot be done without an address is known:", () => {
  test.each<[string, acts: string, without: string, (Pod & Given)?]>([
    ["envoy", "wait drain quit", "envoy"],
    ["linkerd", "wait quit", "linkerd"],
    ["vault-agent", "quit", "vault-agent"],
    ["envoy:9911", "", ""],
    ["vault-agent:8200", "", ""],
    ["istio:15000", "", ""],
    ["envoy", "", "", { admin: "http://localhost:9911" }],
    ["envoy", "wait drain", "", { quit: ["http://localhost:9911/bye"] }],
    ["envoy", "wait drain quit", "envoy", { quit: ["+http://localhost:9911/bye"] }],
    ["envoy", "wait drain", "envoy", { quit: ["none"] }],
    ["envoy", "wait drain", "envoy", { signalProcess: ["envoy"] }],
    ["envoy", "wait drain quit", "envoy", { ready: ["tcp://localhost:80"] }],
    ["envoy", "wait drain", "envoy", { annotations: { "ebb.dev/native": "envoy" } }],
    ["envoy,dapr", "wait quit", "dapr", { admin: "http://localhost:9911" }],
    ["envoy,dapr", "wait drain quit", "envoy", { env: { DAPR_HTTP_PORT: "3500" } }],
  ])("--sidecar %s: not to %p; no address of %p", (names, acts, without, given = {}) => {
    expect(planned(names, given)).toMatchObject({ acts, without });
  });

  test("on another network a name is enough", () => {
    const found = foundByName({ env: {}, annotations: new Map() }, [{ name: "envoy" }]);
    const urls = urlsOf({});
    const all = { found, sidecars: planSidecars(found, urls) };
    expect([unnamedFor(["wait", "drain", "quit"], all, urls), unnamedIn(all, urls)]).toEqual([[], []]);
  });
});

import { expect, test } from "bun:test";
import { parseChoice, type SidecarChoice } from "../../../../../src/shared/sidecars/core/choice.ts";
import { leftOut } from "../../../../../src/shared/sidecars/core/left-out.ts";
import { parseQuit } from "../../../../../src/shared/sidecars/core/quit.ts";
import type { QuitRequest } from "../../../../../src/shared/sidecars/core/sidecar.ts";
import { istioStatus } from "./detected.ts";

const vault = { "vault.hashicorp.com/agent-inject-status": "injected" };
const istio = { "sidecar.istio.io/status": istioStatus };
const csql = { CSQL_PROXY_QUIT_URLS: "http://localhost:9801/quitquitquit" };

interface Pod {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly quit?: readonly string[];
}

const leftBy = (text: string, { annotations = {}, env = {}, quit = [] }: Pod) =>
  leftOut(
    parseChoice(text) as SidecarChoice,
    { env, annotations: new Map(Object.entries(annotations)) },
    { admin: undefined, ready: [], quit: quit.map((one) => parseQuit(one) as QuitRequest) },
  );

test.each<[string, Pod, readonly string[], string]>([
  ["istio", { annotations: vault }, ["vault-agent"], "istio,vault-agent, or --sidecar auto,istio"],
  ["envoy:9902", { env: { DAPR_HTTP_PORT: "3500" } }, ["dapr"], "envoy:9902,dapr, or --sidecar auto,envoy:9902"],
  ["istio", { annotations: { "dapr.io/enabled": "true" } }, ["dapr"], "istio,dapr, or --sidecar auto,istio"],
  ["istio", { env: csql }, ["cloud-sql-proxy"], "istio,cloud-sql-proxy, or --sidecar auto,istio"],
  ["dapr", { annotations: istio }, ["istio"], "dapr,istio, or --sidecar auto,dapr"],
  [
    "istio",
    { annotations: vault, quit: ["http://localhost:15000/quitquitquit"] },
    ["vault-agent"],
    "istio,vault-agent",
  ],
])("%s, with %j, leaves out %j", (text, pod, names, how) => {
  const left = leftBy(text, pod);
  expect(left?.names.map(String)).toEqual([...names]);
  expect(left?.how).toStartWith(`set --sidecar ${how}`);
});

test.each<[string, Pod]>([
  ["istio", {}],
  ["none", { annotations: vault }],
  ["auto,istio", { annotations: vault }],
  ["istio,vault-agent", { annotations: vault }],
  ["istio", { annotations: { ...vault, "vault.hashicorp.com/agent-pre-populate-only": "true" } }],
  ["istio", { annotations: { "dapr.io/enabled": "true", "dapr.io/enable-native-sidecar": "true" } }],
  ["istio", { annotations: { ...vault, "ebb.dev/native": "vault-agent" } }],
  ["istio", { env: csql, quit: ["+http://127.0.0.1:9801/quitquitquit"] }],
  ["istio", { annotations: vault, quit: ["+http://localhost:8200/agent/v1/quit"] }],
  ["envoy", { annotations: istio }],
  ["istio", { annotations: { "linkerd.io/proxy-version": "1" } }],
])("%s, with %j, leaves out none that would keep the pod running", (text, pod) => {
  expect(leftBy(text, pod)).toBeUndefined();
});

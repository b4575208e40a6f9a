import { describe, expect, test } from "bun:test";
import { injectPod, removeFromPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import { app, changed, type Given, podOf, policy } from "../injection.ts";

const lifecycle = { postStart: { exec: { command: ["sh", "-c", "until nc -z localhost 8080; do sleep 1; done"] } } };
const hooked = app({ lifecycle });
const envoy = { name: "envoy", image: "envoyproxy/envoy:v1.38.0" };
const csql = { name: "db", image: "r/cloud-sql-proxy:2", args: ["--quitquitquit"] };
const native = (sidecar: object) => ({ initContainers: [{ ...sidecar, restartPolicy: "Always" }] });

const unheld = {};
const atOnce = { EBB_NO_WAIT: "true" };
const briefly = { EBB_WAIT_TIMEOUT: "10s", EBB_ON_WAIT_TIMEOUT: "start" };

/** The variables of waiting in the container that has the hook. */
function waitingOf(given: Given): object {
  const { containers } = changed(given).spec;
  const { env } = containers.find((one: { lifecycle?: object }) => one.lifecycle && "postStart" in one.lifecycle);
  const names = ["EBB_NO_WAIT", "EBB_WAIT_TIMEOUT", "EBB_ON_WAIT_TIMEOUT"];
  const waiting = env.filter(({ name }: { name: string }) => names.includes(name));
  return Object.fromEntries(waiting.map(({ name, value }: { name: string; value: string }) => [name, value]));
}

describe("beside a postStart hook, ebb", () => {
  test.each<[string, Given, object]>([
    ["waits for a proxy before it", { containers: [envoy, hooked] }, unheld],
    ["waits for a native one", { containers: [hooked], spec: native(envoy) }, unheld],
    ["does not wait for one after it", { containers: [hooked, envoy] }, atOnce],
    ["nor for a companion after it", { containers: [envoy, hooked, csql] }, atOnce],
    ["nor where that takes no quit", { containers: [envoy, hooked, { ...csql, args: [] }] }, atOnce],
    [
      "waits for one before it, whatever does not have to be ready after it",
      { containers: [envoy, hooked, { name: "vault-agent" }] },
      unheld,
    ],
    [
      "waits briefly for a Vault Agent that is to be injected, and has to be up",
      {
        containers: [envoy, hooked],
        annotations: {
          ...{ "vault.hashicorp.com/agent-inject-status": "injected", "vault.hashicorp.com/agent-enable-quit": "true" },
          ...{ "vault.hashicorp.com/agent-pre-populate": "false" },
        },
      },
      briefly,
    ],
    [
      "waits for one before it, whatever cannot be named after it",
      {
        containers: [envoy, hooked, { ...csql, args: ["--unix-socket=/s"] }],
        annotations: { "ebb.dev/ready": "unix:/s/a:b:c/.s.PGSQL.5432" },
      },
      unheld,
    ],
    ["waits briefly where a proxy may be injected", { containers: [hooked] }, briefly],
    ["nor longer beside a companion alone", { containers: [csql, hooked] }, briefly],
    [
      "nor longer where an annotation tells of one that is not there yet",
      { containers: [envoy, hooked], annotations: { "dapr.io/enabled": "true" } },
      briefly,
    ],
    [
      "waits for one that will be native, by its own annotation",
      { containers: [hooked], annotations: { "config.linkerd.io/proxy-enable-native-sidecar": "true" } },
      unheld,
    ],
    [
      "waits for one that will be native, by ebb's",
      { containers: [hooked], annotations: { "ebb.dev/native": "istio" } },
      unheld,
    ],
    [
      "waits for nothing where there is no sidecar",
      { containers: [hooked], annotations: { "ebb.dev/sidecar": "none" } },
      unheld,
    ],
    [
      "waits for companions that are named and stand before it",
      { containers: [csql, hooked], annotations: { "ebb.dev/sidecar": "cloud-sql-proxy" } },
      unheld,
    ],
    [
      "waits briefly for one that is named and not there yet",
      { containers: [hooked], annotations: { "ebb.dev/sidecar": "linkerd" } },
      briefly,
    ],
    ["has no proxy to wait for on the node's network", { containers: [hooked], spec: { hostNetwork: true } }, unheld],
    [
      "waits as long as it is told to",
      {
        containers: [hooked],
        annotations: { "ebb.dev/wait-timeout": "1m", "ebb.dev/on-wait-timeout": "fail" },
      },
      { EBB_WAIT_TIMEOUT: "1m", EBB_ON_WAIT_TIMEOUT: "fail" },
    ],
    [
      "waits if it is told to",
      { containers: [hooked, envoy], annotations: { "ebb.dev/no-wait": "false" } },
      { EBB_NO_WAIT: "false" },
    ],
    [
      "leaves it to other tools' variables",
      { containers: [app({ lifecycle, env: [{ name: "WAIT_FOR_ENVOY_TIMEOUT", value: "20s" }] })] },
      unheld,
    ],
  ])("%s", (_, given, waiting) => {
    expect(waitingOf(given)).toEqual(waiting);
  });

  test.each<{ containers: readonly object[] }>([{ containers: [hooked] }, { containers: [hooked, envoy] }])(
    "changes nothing a second time, and can be taken out",
    ({ containers }) => {
      const pod = changed({ containers });
      expect(injectPod(pod, policy).kind).toBe("unchanged");
      expect(removeFromPod(pod)).toMatchObject({ kind: "removed", pod: podOf({ containers }) });
    },
  );
});

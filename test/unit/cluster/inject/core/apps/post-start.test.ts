import { describe, expect, test } from "bun:test";
import { injectPod, removeFromPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import { app, changed, type Given, podOf, policy, warnings } from "../injection.ts";

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
  test.each<[string, Given, object, string | undefined]>([
    ["waits for a proxy before it", { containers: [envoy, hooked] }, unheld, undefined],
    ["waits for a native one", { containers: [hooked], spec: native(envoy) }, unheld, undefined],
    ["does not wait for one after it", { containers: [hooked, envoy] }, atOnce, 'put "envoy" before'],
    ["nor for a companion after it", { containers: [envoy, hooked, csql] }, atOnce, 'put "db" before'],
    ["nor where that takes no quit", { containers: [envoy, hooked, { ...csql, args: [] }] }, atOnce, 'put "db" before'],
    [
      "waits for one before it, whatever does not have to be ready after it",
      { containers: [envoy, hooked, { name: "vault-agent" }] },
      unheld,
      undefined,
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
      "10s at most",
    ],
    [
      "waits for one before it, whatever cannot be named after it",
      {
        containers: [envoy, hooked, { ...csql, args: ["--unix-socket=/s"] }],
        annotations: { "ebb.dev/ready": "unix:/s/a:b:c/.s.PGSQL.5432" },
      },
      unheld,
      undefined,
    ],
    [
      "waits briefly where a proxy may be injected",
      { containers: [hooked] },
      briefly,
      "this hook delays sidecars that are injected after this container, so ebb waits 10s at most: name a native one in ebb.dev/native, or set ebb.dev/sidecar: none if there is none",
    ],
    ["nor longer beside a companion alone", { containers: [csql, hooked] }, briefly, "10s at most"],
    [
      "nor longer where an annotation tells of one that is not there yet",
      { containers: [envoy, hooked], annotations: { "dapr.io/enabled": "true" } },
      briefly,
      "10s at most",
    ],
    [
      "waits for one that will be native, by its own annotation",
      { containers: [hooked], annotations: { "config.linkerd.io/proxy-enable-native-sidecar": "true" } },
      unheld,
      undefined,
    ],
    [
      "waits for one that will be native, by ebb's",
      { containers: [hooked], annotations: { "ebb.dev/native": "istio" } },
      unheld,
      undefined,
    ],
    [
      "waits for nothing where there is no sidecar",
      { containers: [hooked], annotations: { "ebb.dev/sidecar": "none" } },
      unheld,
      undefined,
    ],
    [
      "waits for companions that are named and stand before it",
      { containers: [csql, hooked], annotations: { "ebb.dev/sidecar": "cloud-sql-proxy" } },
      unheld,
      undefined,
    ],
    [
      "waits briefly for one that is named and not there yet",
      { containers: [hooked], annotations: { "ebb.dev/sidecar": "linkerd" } },
      briefly,
      "10s at most",
    ],
    [
      "has no proxy to wait for on the node's network",
      { containers: [hooked], spec: { hostNetwork: true } },
      unheld,
      "name",
    ],
    [
      "waits as long as it is told to",
      {
        containers: [hooked],
        annotations: { "ebb.dev/wait-timeout": "1m", "ebb.dev/on-wait-timeout": "fail" },
      },
      { EBB_WAIT_TIMEOUT: "1m", EBB_ON_WAIT_TIMEOUT: "fail" },
      undefined,
    ],
    [
      "waits if it is told to",
      { containers: [hooked, envoy], annotations: { "ebb.dev/no-wait": "false" } },
      { EBB_NO_WAIT: "false" },
      undefined,
    ],
    [
      "leaves it to other tools' variables",
      { containers: [app({ lifecycle, env: [{ name: "WAIT_FOR_ENVOY_TIMEOUT", value: "20s" }] })] },
      unheld,
      undefined,
    ],
  ])("%s", (_, given, waiting, message) => {
    expect(waitingOf(given)).toEqual(waiting);
    const said = warnings(given).filter(([field]) => field !== "spec.hostNetwork");
    const isSaid = message !== undefined && message !== "name";
    const at = given.containers?.indexOf(hooked);
    const field = `spec.containers[${at}].lifecycle.postStart`;
    expect(said).toEqual((isSaid ? [[field, expect.stringContaining(message)]] : []) as never);
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

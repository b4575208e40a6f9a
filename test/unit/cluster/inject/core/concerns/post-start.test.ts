import { expect, test } from "bun:test";
import { app, type Given, warnings } from "../injection.ts";

const lifecycle = { postStart: { exec: { command: ["sh", "-c", "until nc -z localhost 8080; do sleep 1; done"] } } };
const hooked = app({ lifecycle });
const envoy = { name: "envoy", image: "envoyproxy/envoy:v1.38.0" };
const later = (name: string) =>
  `put "${name}" before this container, or make it native: it starts only when this hook has ended, so ebb starts the app without waiting for it`;
const injected =
  "this hook delays sidecars that are injected after this container, so ebb waits 10s at most: name a native one in ebb.dev/native, or set ebb.dev/sidecar: none if there is none";

test.each<[string, Given, string]>([
  ["a proxy after it", { containers: [hooked, envoy] }, later("envoy")],
  ["a companion after it", { containers: [envoy, hooked, { name: "db", image: "r/cloud-sql-proxy:2" }] }, later("db")],
  ["a proxy that may be injected", { containers: [hooked] }, injected],
  [
    "a sidecar that an annotation tells of and that is not there yet",
    { containers: [envoy, hooked], annotations: { "dapr.io/enabled": "true" } },
    injected,
  ],
  ["a sidecar that the user names", { containers: [hooked], annotations: { "ebb.dev/sidecar": "linkerd" } }, injected],
])("a postStart hook that delays %s is warned of", (_, given, message) => {
  const at = given.containers?.indexOf(hooked);
  expect(warnings(given)).toEqual([[`spec.containers[${at}].lifecycle.postStart`, message]]);
});

test.each<[string, Given]>([
  ["it delays no sidecar", { containers: [envoy, hooked] }],
  [
    "the user says how long ebb waits",
    { containers: [hooked], annotations: { "ebb.dev/wait-timeout": "1m", "ebb.dev/on-wait-timeout": "fail" } },
  ],
  ["the user says whether ebb waits", { containers: [hooked, envoy], annotations: { "ebb.dev/no-wait": "false" } }],
  [
    "another tool's variable says how long ebb waits",
    { containers: [app({ lifecycle, env: [{ name: "WAIT_FOR_ENVOY_TIMEOUT", value: "20s" }] })] },
  ],
])("a postStart hook is not warned of if %s", (_, given) => {
  expect(warnings(given)).toEqual([]);
});

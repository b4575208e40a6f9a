import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { images, type Namespace } from "../cluster.ts";
import { patience } from "../envoy.ts";
import { type Container, type PodSpec, podOf } from "../objects.ts";
import { programs } from "../programs.ts";
import { addressOfOutside, draining, GRACE_SECONDS, stage, start } from "../stops/pods.ts";
import { expectNothingLost, linesOf, stop, usualMs } from "../stops/stop.ts";
import { installed } from "../webhook/installed.ts";
import { heldProxy, injected, sidecarKind, startIstio } from "./istio.ts";

// An app that `ebb run` drains and stops, beside a real pilot-agent and its Envoy in an ordinary container.

let here: Namespace;

beforeAll(async () => {
  await startIstio();
  here = await stage(injected);
}, 300_000);

afterAll(async () => {
  await here?.[Symbol.asyncDispose]();
});

const PORT = 8081;
const NEEDS_MS = 3000;
/** Longer than the app's drain and end: a pod that sat it out would be late. */
const patient = { "proxy.istio.io/config": JSON.stringify({ terminationDrainDuration: "45s" }) };

describe("a pod that is deleted beside Istio's ordinary sidecar loses no call of its app, and is gone soon:", () => {
  test.concurrent.each([
    [
      "annotated",
      "by its annotation alone",
      [],
      "app",
      "the agent only waits after its SIGTERM: asked its Envoy to exit",
    ],
    ["hooked", "by ebb hold as its hook", [heldProxy], "istio-proxy", "told the agent to leave at its SIGTERM"],
  ] as const)("%s: %s", async (name, what, proxies, logger, message) => {
    const annotations = { ...patient, ...sidecarKind(false) };
    await start(here, podOf(name, await specWith(proxies), { annotations }));
    const end = await stop(here, name, { clientsMs: usualMs, port: PORT });
    expectNothingLost(`Istio ${what}`, end, { app: NEEDS_MS });
    expect(linesOf(end, logger, message)).toHaveLength(1);
  });
});

async function specWith(proxies: readonly Container[]): Promise<PodSpec> {
  const words = [`http://${await addressOfOutside(here)}:${PORT}/`, `${NEEDS_MS}`, `${PORT}`];
  const { command, ...container } = programs.container("app", "stopping.ts", ...words);
  const ebb = ["/ebb", "run", "--sidecar", "istio", "--restart-policy", "Always", ...draining, "--"];
  const readinessProbe = { httpGet: { path: "/health", port: PORT }, periodSeconds: 1, ...patience };
  return {
    restartPolicy: "Always",
    terminationGracePeriodSeconds: GRACE_SECONDS,
    initContainers: [installed.container],
    containers: [{ ...container, image: images.bunAndEbb, command: [...ebb, ...command], readinessProbe }, ...proxies],
    volumes: [installed.volume, programs.volume],
  };
}

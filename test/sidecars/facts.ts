import { expect, test } from "bun:test";
import { clustersPath } from "../../src/pod/envoy/core/clusters.ts";
import { dynamicListenersPath, parseBoundListeners, staticListenersPath } from "../../src/pod/envoy/core/json.ts";
import { boundListenersPath, statsPath } from "../../src/pod/envoy/core/stats.ts";
import type { SidecarKind } from "../../src/shared/sidecars/core/kinds/kind.ts";
import { kindOf } from "../../src/shared/sidecars/core/registry.ts";
import { until } from "../harness/ebb.ts";
import { startReady } from "./life.ts";
import { type Answer, type Pod, startPod } from "./pod.ts";
import type { Beside, Subject } from "./subject.ts";

/** The requests that are answered with the refusals that ebb explains, by status. */
type Refusals = Readonly<Record<number, string>>;

/**
 * Declares a test that asks the program for each port, path and status in ebb's own table. `agentPorts` are ports of an
 * agent that is not there, which are left out.
 */
export function factTests(subject: Subject, refusals: Refusals, agentPorts: readonly number[] = []): void {
  const { title, sidecar } = subject;
  const kind = kindOf(sidecar);

  test(`${title}: what ebb knows of it is what it answers`, async () => {
    await using pod = await startPod();
    const beside = await startReady(subject, pod);
    expect([...(await portsThatListen(pod, kind)), ...agentPorts]).toEqual([...kind.ports]);
    if (kind.ready?.startsWith("http"))
      expect(await pod.request(asked("GET", kind.ready))).toMatchObject({ status: subject.ready.status });
    if (kind.drainPath !== undefined) await expectEnvoy(pod, kind, beside);
    for (const [status, request] of Object.entries(refusals)) {
      expect(`${request}: ${(await pod.request(request))?.status}`).toBe(`${request}: ${status}`);
      expect(Object.keys(kind.refusals())).toContain(status);
    }
    const quit = beside.admin ?? kind.quit;
    const at = beside.admin === undefined ? quit : `${quit}${kind.quitPath}`;
    const taken: readonly Answer["status"][] = subject.cutsQuitAnswer === true ? [200, "cut"] : [200, 204];
    expect((await pod.request(asked("POST", at)))?.status).toBeOneOf(taken);
    expect(await beside.container.ended).toBe(subject.exitCode);
  });
}

async function portsThatListen(pod: Pod, { ports }: SidecarKind): Promise<readonly number[]> {
  const answers = await Promise.all(ports.map((port) => pod.request(`${port}/`)));
  return ports.filter((_, index) => answers[index] !== undefined);
}

/** Expects that the admin interface answers all that a drain and a status ask. */
async function expectEnvoy(pod: Pod, kind: SidecarKind, { admin = kind.admin }: Beside): Promise<void> {
  const answer = async (method: string, path: string) => await pod.request(asked(method, `${admin}${path}`));
  const bound = parseBoundListeners((await answer("GET", boundListenersPath))?.body ?? "") ?? [];
  expect(bound.length).toBeGreaterThan(0);
  const clusters = kind.inbound === undefined ? [] : [clustersPath(kind.inbound)];
  for (const path of ["/server_info", "/ready", statsPath, staticListenersPath, dynamicListenersPath, ...clusters])
    expect(`${path}: ${(await answer("GET", path))?.status}`).toBe(`${path}: 200`);
  expect((await answer("GET", dynamicListenersPath))?.body).toContain('"traffic_direction": "INBOUND"');
  expect(await answer("POST", "/healthcheck/fail")).toMatchObject({ status: 200 });
  await until("Envoy says that it drains", async () => (await answer("GET", "/ready"))?.status === 503);
  expect(await answer("POST", kind.drainPath ?? "")).toMatchObject({ status: 200 });
  expect(await answer("POST", "/healthcheck/ok")).toMatchObject({ status: 200 });
}

/** Returns a request for `pod.request`. */
function asked(method: string, url: string): string {
  return `${method} ${url.replace(/^http:\/\/localhost:/, "")}`;
}

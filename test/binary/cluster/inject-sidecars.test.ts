import { describe, expect, test } from "bun:test";
import { canHaveNetwork, ebbBeside, found } from "../sidecars/own-network.ts";
import { inject } from "./inject-calls.ts";

/** A Job with one app and these sidecars, which asks for ebb. */
function jobWith(...sidecars: readonly object[]): string {
  return JSON.stringify({
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "migrate" },
    spec: {
      template: {
        metadata: { annotations: { "ebb.dev/inject": "true" } },
        spec: {
          restartPolicy: "Never",
          containers: [{ name: "migrate", image: "app", command: ["sh", "-c", "exit 5"] }, ...sidecars],
        },
      },
    },
  });
}

const google = (name: string, ...args: readonly string[]) => ({
  name,
  image: `gcr.io/google/${name}:2`,
  args: ["p:r:i", ...args],
});

describe.skipIf(!canHaveNetwork)("an injected Job, run in a network of its own (which needs root)", () => {
  test.each<[string, object, number]>([
    ["cloud-sql-proxy", google("cloud-sql-proxy", "--quitquitquit"), 9091],
    ["cloud-sql-proxy", google("cloud-sql-proxy", "--quitquitquit", "--admin-port=9092"), 9092],
    ["alloydb-auth-proxy", google("alloydb-auth-proxy", "--quitquitquit"), 9091],
  ])("waits for %s and quits it: %j", async (name, sidecar, port) => {
    const injected = await inject(jobWith(sidecar));
    expect(injected.code).toBe(0);
    const [container] = JSON.parse(injected.stdout).spec.template.spec.containers;
    const env = Object.fromEntries(container.env.map((one: { name: string; value: string }) => [one.name, one.value]));
    const ended = await ebbBeside([{ port, afterMs: 300 }], container.command.slice(1), { env });
    expect(found(ended)).toEqual([name]);
    expect(ended).toMatchObject({ code: 5, requests: [`${port} POST /quitquitquit`] });
  });
});

test("a quit that the manifest shows to be off is a warning, at its line", async () => {
  const { code, stderr } = await inject(jobWith(google("cloud-sql-proxy")));
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /^ebb: stdin:\d+: warning: Job migrate: spec\.template\.spec\.containers\[1\]\.args: "cloud-sql-proxy" will outlive the app: .*--quitquitquit/m,
  );
});

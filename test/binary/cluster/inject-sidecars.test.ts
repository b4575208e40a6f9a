import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ebb, temporaryFolder } from "../../harness.ts";
import { canHaveNetwork, ebbBeside, found } from "../sidecars/own-network.ts";
import { inject } from "./inject-calls.ts";

// biome-ignore lint/suspicious/noExplicitAny: a manifest, as it was printed
type Loose = any;

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

test.skipIf(!canHaveNetwork)("a native sidecar is named, waited for, and not quit", async () => {
  const manifest = JSON.parse(jobWith());
  const native = { ...google("cloud-sql-proxy", "--quitquitquit"), restartPolicy: "Always" };
  manifest.spec.template.spec.initContainers = [native];
  const { metadata, spec } = JSON.parse((await inject(JSON.stringify(manifest))).stdout).spec.template;
  using folder = temporaryFolder();
  const path = join(folder.path, "annotations");
  await Bun.write(path, `ebb.dev/native="${metadata.annotations["ebb.dev/native"]}"\n`);
  const [container] = spec.containers;
  const env = Object.fromEntries(container.env.map((one: { name: string; value: string }) => [one.name, one.value]));
  const args = container.command.slice(1);
  const ended = await ebbBeside([{ port: 9091 }], args, { env: { ...env, EBB_POD_ANNOTATIONS: path } });
  expect(found(ended)).toEqual(["cloud-sql-proxy"]);
  expect(ended).toMatchObject({ code: 5, requests: [] });
});

test("a quit that the manifest shows to be off is a warning, at its line", async () => {
  const { code, stderr } = await inject(jobWith(google("cloud-sql-proxy")));
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /^ebb: stdin:\d+: warning: Job migrate: spec\.template\.spec\.containers\[1\]\.args: "cloud-sql-proxy" will outlive the app: .*--quitquitquit/m,
  );
});

/** A Deployment in YAML whose app has this hook, with an Envoy beside it. */
const server = (preStop: string) => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    metadata:
      annotations: {ebb.dev/inject: "true"} # asks for ebb
    spec:
      containers:
        - name: web
          image: registry.example.com/web
          command: ["/web"]
          lifecycle: ${preStop}
        - name: envoy # ordinary
          image: envoyproxy/envoy:v1.38.0
          args: ["-c", "/etc/envoy.yaml"]
`;

function linesBut(text: string, word: string): readonly string[] {
  return text.split("\n").filter((line) => !line.includes(word));
}

/** Takes ebb out of a manifest. */
async function remove(text: string): Promise<string> {
  const { stdout } = await ebb(["inject", "--remove"], { through: ["sh", "-c", 'printf %s "$0" | "$@"', text] });
  return stdout;
}

/** Hooks that come back to the byte. */
const exact = [
  '{preStop: {exec: {command: ["sleep", "15"]}}}',
  "{preStop: {exec: {command: [sh, -c, sleep 15]}}}",
  '{"preStop": {"exec": {"command": ["sleep","15"]}}, "postStart": {"sleep": {"seconds": 1}}}',
  `\n            preStop:\n              exec:\n                command:\n                  - sleep\n                  - "15"`,
  "\n            preStop:\n              sleep:\n                seconds: 15",
];

test.each([
  ...exact,
  "{preStop: {sleep: {seconds: 15}}}",
  "\n            preStop:\n              exec:\n                command: ['sh', -c, 'sleep 15']",
])("a hook that sleeps becomes a drain, in the proxy too, and comes back with --remove: %s", async (hook) => {
  const { code, stdout, stderr } = await inject(server(hook));
  expect(code).toBe(0);
  const { containers } = (Bun.YAML.parse(stdout) as Loose).spec.template.spec;
  expect(containers.map(({ lifecycle }: Loose) => lifecycle.preStop)).toEqual([
    { exec: { command: ["/ebb.dev/ebb", "drain", "--min-drain=15s", "--drain=24s"] } },
    { exec: { command: ["/ebb.dev/ebb", "drain", "--sidecar=envoy", "--min-drain=15s", "--drain=24s"] } },
  ]);
  expect(stderr).toMatch(
    /^ebb: stdin:\d+: warning: Deployment web: spec\.template\.spec\.containers\[0\]\.lifecycle\.preStop: replaced "sleep 15" by ebb drain --min-drain=15s --drain=24s$/m,
  );
  const removed = await remove(stdout);
  expect(Bun.YAML.parse(removed)).toEqual(Bun.YAML.parse(server(hook)));
  if (exact.includes(hook)) expect(removed).toBe(server(hook));
  else expect(linesBut(removed, "sleep")).toEqual(linesBut(server(hook), "sleep"));
});

test("a postStart hook that may wait for the app gets an app that starts after 10 s at most", async () => {
  const { code, stdout, stderr } = await inject(
    server('{postStart: {exec: {command: ["/wait-for-web"]}}}').replace(/ {8}- name: envoy.*/s, ""),
  );
  expect(code).toBe(0);
  const [{ env }] = (Bun.YAML.parse(stdout) as Loose).spec.template.spec.containers;
  expect(env).toContainEqual({ name: "EBB_WAIT_TIMEOUT", value: "10s" });
  expect(env).toContainEqual({ name: "EBB_ON_WAIT_TIMEOUT", value: "start" });
  expect(stderr).toMatch(/warning: Deployment web: spec\.template\.spec\.containers\[0\]\.lifecycle\.postStart: /);
});

test("a container that only asks the sidecar to quit stays as it is, with a warning", async () => {
  const script = "curl -X POST localhost:15020/quitquitquit";
  const { code, stdout, stderr } = await inject(
    jobWith({ name: "quitter", image: "curl", args: ["sh", "-c", script] }),
  );
  expect(code).toBe(0);
  expect(JSON.parse(stdout).spec.template.spec.containers[1].command).toBeUndefined();
  expect(stderr).toMatch(
    /warning: Job migrate: spec\.template\.spec\.containers\[1\]: remove "quitter": it only asks a sidecar to exit \(/,
  );
});

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ebb, temporaryFolder } from "../../harness/ebb.ts";
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
          lifecycle:${preStop.startsWith("\n") ? "" : " "}${preStop}
        - name: envoy # ordinary
          image: envoyproxy/envoy:v1.38.0
          args: ["-c", "/etc/envoy.yaml"]
`;

/** Takes ebb out of a manifest. */
async function remove(text: string): Promise<string> {
  const { stdout } = await ebb(["inject", "--remove"], { through: ["sh", "-c", 'printf %s "$0" | "$@"', text] });
  return stdout;
}

/** The app's hooks that come back to the byte; others come back at its container's end, in block style. */
const exact = [
  `\n            preStop:\n              exec:\n                command:\n                  - sleep\n                  - "15"`,
  "\n            preStop:\n              sleep:\n                seconds: 15",
];

test.each([
  ...exact,
  '{preStop: {exec: {command: ["sleep", "15"]}}}',
  '{"preStop": {"exec": {"command": ["sleep","15"]}}, "postStart": {"sleep": {"seconds": 1}}}',
  "{preStop: {sleep: {seconds: 15}}}",
  "\n            preStop:\n              exec:\n                command: ['sh', -c, 'sleep 15']",
])(
  "in the place of a hook that sleeps ebb run drains, the proxy is held, and --remove brings it back: %s",
  async (hook) => {
    const { code, stdout, stderr } = await inject(server(hook));
    expect(code).toBe(0);
    const { containers } = (Bun.YAML.parse(stdout) as Loose).spec.template.spec;
    const hooks = containers.map(({ lifecycle }: Loose) => lifecycle?.preStop?.exec.command);
    expect(hooks).toEqual([undefined, ["/ebb.dev/ebb", "hold", "--sidecar=envoy"]]);
    expect(containers[0].env).toContainEqual({ name: "EBB_MIN_DRAIN", value: "15s" });
    expect(stderr).toMatch(
      /^ebb: stdin:\d+: warning: Deployment web: spec\.template\.spec\.containers\[0\]\.lifecycle\.preStop: replaced "sleep 15" by the drain of ebb run: EBB_MIN_DRAIN=15s, EBB_DRAIN=24s$/m,
    );
    const removed = await remove(stdout);
    expect(Bun.YAML.parse(removed)).toEqual(Bun.YAML.parse(server(hook)));
    if (exact.includes(hook)) expect(removed).toBe(server(hook));
  },
);

/** Hooks of a proxy that come back to the byte. */
const replaced = [
  '{preStop: {exec: {command: ["sleep", "45"]}}}',
  "{preStop: {exec: {command: [sh, -c, sleep 45]}}}",
  '{"preStop": {"exec": {"command": ["sleep","45"]}}, "postStart": {"sleep": {"seconds": 1}}}',
  "\n            preStop:\n              sleep:\n                seconds: 45",
  '{preStop: {exec: {command: ["/bin/sh", "-c", "while [ $(netstat -plunt | grep tcp | grep -v envoy | wc -l | xargs) -ne 0 ]; do sleep 1; done"]}}}',
];

test.each(replaced)(
  "in the place of the proxy's own hook it is held, and --remove brings that back: %s",
  async (hook) => {
    const text = `${server("{}")}          lifecycle:${hook.startsWith("\n") ? "" : " "}${hook}\n`;
    const { code, stdout, stderr } = await inject(text);
    expect(code).toBe(0);
    const { containers } = (Bun.YAML.parse(stdout) as Loose).spec.template.spec;
    expect(containers[1].lifecycle.preStop).toEqual({ exec: { command: ["/ebb.dev/ebb", "hold", "--sidecar=envoy"] } });
    expect(stderr).toMatch(/containers\[1\]\.lifecycle\.preStop: replaced .* by ebb hold --sidecar=envoy$/m);
    expect(await remove(stdout)).toBe(text);
  },
);

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

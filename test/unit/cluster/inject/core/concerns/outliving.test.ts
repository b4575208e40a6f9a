import { describe, expect, test } from "bun:test";
import { injectPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import { app, changed, type Given, policy, warnings } from "../injection.ts";

const job = { restartPolicy: "Never" };
const collector = { name: "otc-container", image: "otel/opentelemetry-collector:0.120.0" };
const shipper = { name: "logs", image: "mirror.example.com/fluent/fluent-bit:4.0", command: ["/fluent-bit"] };
const outlives = (name: string, remedy: string): [string, string] => [
  "spec.containers[1]",
  `"${name}" will outlive the app: ebb cannot shut it down; ${remedy}`,
];

describe.each([
  [collector, ", or ebb reaper ends it with the command in ebb.dev/reap-exec.otc-container"],
  [shipper, ""],
])("in a pod that ends, a container that runs beside the app: %j", (beside, reaper) => {
  const given: Given = { containers: [app(), beside], spec: job };

  test("is no app, and is said to outlive it", () => {
    const { spec } = changed(given);
    expect(spec.containers[1]).toEqual(beside);
    expect(spec.containers[0].env.map(({ name }: { name: string }) => name)).not.toContain("EBB_LAST_OF");
    expect(warnings(given)).toEqual([
      outlives(beside.name, `ebb.dev/native: "true" makes it a native sidecar${reaper}`),
    ]);
  });

  test('becomes native with ebb.dev/native: "true", and nothing is said', () => {
    const annotations = { "ebb.dev/native": "true" };
    const { spec } = changed({ ...given, annotations });
    expect(spec.initContainers.at(-1)).toEqual({ ...beside, restartPolicy: "Always" });
    expect(warnings({ ...given, annotations })).toEqual([]);
  });

  test("is an app if ebb.dev/apps names it", () => {
    const annotations = { "ebb.dev/apps": beside.name, "ebb.dev/entrypoint.otc-container": "/otelcol" };
    if (beside !== collector) delete (annotations as Record<string, string>)["ebb.dev/entrypoint.otc-container"];
    expect(changed({ ...given, annotations }).spec.containers[1].command[0]).toBe("/ebb.dev/ebb");
  });
});

test.each([{ "ebb.dev/sidecar": "istio" }, { "ebb.dev/quit": "none" }, { "ebb.dev/quit-on": "never" }])(
  "what is said of other sidecars changes nothing: %j",
  (annotations) => {
    const message = outlives("logs", 'ebb.dev/native: "true" makes it a native sidecar');
    expect(warnings({ containers: [app(), shipper], spec: job, annotations })).toContainEqual(message);
  },
);

test.each(["ebb.dev/reap-exec.otc-container", "ebb.dev/reap-quit.otc-container"])(
  "nothing is said where the pod says how the reaper ends it: %s",
  (name) => {
    expect(warnings({ containers: [app(), collector], spec: job, annotations: { [name]: "/quit" } })).toEqual([]);
  },
);

test("one that cannot become native is said to, with the reason", () => {
  const container = { ...shipper, ports: [{ containerPort: 2020, hostPort: 2020 }] };
  const [[, message] = []] = warnings({ containers: [app(), container], spec: job });
  expect(message).toMatch(/it cannot become native: the kubelet opens a hostPort only for an ordinary container/);
});

test.each(["ebb.dev/grace.logs", "ebb.dev/entrypoint.logs"])("an annotation of its own makes it an app: %s", (name) => {
  const { command: _, ...unnamed } = shipper;
  const container = name.includes("grace") ? shipper : unnamed;
  const { spec } = changed({ containers: [app(), container], spec: job, annotations: { [name]: "3s" } });
  expect(spec.containers[1].command[0]).toBe("/ebb.dev/ebb");
});

test.each<[string, Given]>([
  ["alone", { containers: [shipper], spec: job }],
  ["beside others of them", { containers: [shipper, { ...shipper, name: "git-sync", image: "git-sync" }], spec: job }],
  ["beside a sidecar", { containers: [shipper, { name: "istio-proxy" }], spec: job }],
  ["in a server", { containers: [app(), shipper] }],
  ["of another image", { containers: [app(), { ...shipper, image: "registry.example.com/my-fluent-bit" }], spec: job }],
])("what runs beside an app is an app itself: %s", (_, given) => {
  const { spec } = changed(given);
  const logs = spec.containers.find(({ name }: { name: string }) => name === "logs");
  expect(logs.command[0]).toBe("/ebb.dev/ebb");
});

test("the container that an orchestrator does not know, beside its one app, is named with its remedy", () => {
  const labels = { kubernetes_executor: "True" };
  const containers = [app({ name: "base" }), app({ name: "sync-dags" })];
  const pod = { metadata: { labels, annotations: { "ebb.dev/inject": "true" } }, spec: { ...job, containers } };
  const [first] = injectPod(pod, policy).warnings;
  expect([first?.field ?? "", first?.message ?? ""]).toEqual(
    outlives("sync-dags", "ebb.dev/sidecars: sync-dags makes it a native sidecar"),
  );
});

test("beside an orchestrator's one app, a sidecar by its image becomes native, too", () => {
  const labels = { kubernetes_executor: "True" };
  const containers = [app({ name: "base" }), { name: "k", image: "kiwigrid/k8s-sidecar:1.28" }];
  const annotations = { "ebb.dev/inject": "true", "ebb.dev/native": "true" };
  const injection = injectPod({ metadata: { labels, annotations }, spec: { ...job, containers } }, policy);
  expect(injection).toMatchObject({ kind: "changed", natives: ["k"], warnings: [] });
});

const csql = { name: "cloud-sql-proxy", args: ["shop:eu:db", "--quitquitquit"] };
const leftOut = '"cloud-sql-proxy" will outlive the app: ebb.dev/sidecar leaves out cloud-sql-proxy; add it';

test.each<[Record<string, string>, readonly string[]]>([
  [{ "ebb.dev/sidecar": "istio" }, [leftOut]],
  [{ "ebb.dev/sidecar.app": "istio" }, [leftOut]],
  [{ "ebb.dev/sidecar": "auto,istio" }, []],
  [{ "ebb.dev/sidecar": "istio,cloud-sql-proxy" }, []],
  [{ "ebb.dev/sidecar": "none" }, []],
  [{ "ebb.dev/sidecar": "istio", "ebb.dev/quit": "+http://localhost:9091/quitquitquit" }, []],
  [{ "ebb.dev/sidecar": "istio", "ebb.dev/native": "true" }, []],
  [{}, []],
])("a sidecar that the user's choice leaves out is said to outlive the app: %j", (annotations, said) => {
  const messages = warnings({ containers: [app(), csql], spec: job, annotations }).map(([, message]) => message);
  expect(messages).toEqual([...said]);
});

test("nothing is said of it in a server", () => {
  expect(warnings({ containers: [app(), csql], annotations: { "ebb.dev/sidecar": "istio" } })).toEqual([]);
});

describe("a container that is always restarted, in a pod that ends,", () => {
  const always = { restartPolicy: "Always" };
  const anyCode = {
    restartPolicy: "Never",
    restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "NotIn", values: [] } }],
  };
  const never = (name: string) => `this pod never ends: "${name}" is restarted whenever it ends; `;
  const said = (...containers: object[]) =>
    warnings({ containers, spec: job }).filter(([, message]) => /never ends|outlive/.test(message));

  test.each<[string, object[], string, number]>([
    ["an app", [app(), app({ name: "b", ...always })], "b", 1],
    ["by rules for all exit codes", [app(), app({ name: "b", ...anyCode })], "b", 1],
    ["the only app", [app(always)], "app", 0],
    ["a known sidecar", [app(), { name: "istio-proxy", ...always }], "istio-proxy", 1],
    ["one that nobody ends", [app(), { ...shipper, ...always }], "logs", 1],
  ])("is said to keep it: %s", (_, containers, name, at) => {
    const expected = [`spec.containers[${at}].restartPolicy`, expect.stringContaining(never(name))];
    expect(said(...containers)).toEqual([expected] as never);
  });

  test("is no news in a server, or where it ends at last", () => {
    const { restartPolicyRules: _, ...end } = anyCode;
    expect(said(app(), app({ name: "b", ...end }))).toEqual([]);
    expect(warnings({ containers: [app(always)] })).toEqual([]);
  });
});

test("GKE's mounter of buckets ends with the apps, by its driver", () => {
  const image = "gke.gcr.io/gcs-fuse-csi-driver-sidecar-mounter:v1.17.1";
  const containers = [app(), { name: "gke-gcsfuse-sidecar", image }];
  expect(warnings({ containers, spec: job })).toEqual([]);
});

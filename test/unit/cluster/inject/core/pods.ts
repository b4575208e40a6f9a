import fc from "fast-check";
import type { Lookup } from "../../../../../src/cluster/image/core/lookup.ts";
import type { InjectPolicy } from "../../../../../src/cluster/inject/core/policy.ts";
import type { Loose } from "./injection.ts";

/** Fields that ebb does not know. */
const unknown = fc.dictionary(
  fc.constantFrom("x", "livenessProbe", "tolerations", "__proto__", "constructor"),
  fc.jsonValue(),
  {
    maxKeys: 2,
  },
);

const some = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined, freq: 2 });
const orNull = <T>(of: fc.Arbitrary<T>) => some(fc.option(of, { nil: null, freq: 8 }));

const word = fc.constantFrom("/app", "serve", "--", "--port=80", "$(PORT)", "", "-h", "sh -c 'x'", "run", "ebb");
const first = fc.constantFrom(
  ...[
    "/app",
    "sh",
    "tini",
    "/usr/bin/dumb-init",
    "scuttle",
    "/bin/scuttle",
    "envoy-preflight",
    "linkerd-await",
    "valet",
  ],
  ...["/ebb", "/shared/ebb", "/ebb.dev/ebb", "pilot-agent", ""],
);
const command = fc.tuple(first, fc.array(word, { maxLength: 3 })).map(([path, rest]) => [path, ...rest]);

const variable = fc.tuple(
  fc.constantFrom(
    "PORT",
    "EBB_DRAIN",
    "EBB_POD_GRACE",
    "EBB_QUIT_ON",
    "EBB_POD_ANNOTATIONS",
    "EBB_SIDECAR",
    "NEVER_KILL_ISTIO",
    "EBB_OF_APP",
  ),
  fc.constantFrom(
    {},
    { value: "1" },
    { value: "never" },
    { value: "true" },
    { value: "auto,envoy" },
    { valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
  ),
);
const env = fc
  .uniqueArray(variable, { selector: ([name]) => name, maxLength: 4 })
  .map((all) => all.map(([name, value]) => ({ name, ...value })));

const volumes = [
  { name: "data", emptyDir: {} },
  { name: "ebb", persistentVolumeClaim: { claimName: "ebb" } },
  { name: "ebb-2", emptyDir: {} },
  { name: "ebb-annotations", emptyDir: {} },
  { name: "ebb-apps", emptyDir: {} },
  { name: "info", downwardAPI: { items: [{ path: "annotations", fieldRef: { fieldPath: "metadata.annotations" } }] } },
  { name: "labels", downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] } },
  {
    name: "all",
    projected: {
      sources: [
        { configMap: { name: "x" } },
        { downwardAPI: { items: [{ path: "pod", fieldRef: { fieldPath: "metadata.annotations" } }] } },
      ],
    },
  },
];

const paths = [
  "/data",
  "/etc/podinfo",
  "/etc/podinfo/",
  "/etc",
  "/ebb.dev-podinfo",
  "/ebb.devil",
  "/ebb.dev",
  "/ebb.dev/x",
  "/ebb.dev-apps",
];
// what makes ebb refuse a pod is rarer than the rest
const mountPath = fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...paths.slice(0, 6)) }, fc.constantFrom(...paths));

const amounts = fc.record(
  {
    cpu: fc.constantFrom<string | number>("100m", "1", 2, "0.5", "250u", "0"),
    memory: fc.constantFrom<string | number>("8Mi", "64Mi", "1Gi", 134217728, "1e8"),
    "ephemeral-storage": fc.constantFrom("50Mi", "1Gi"),
  },
  { requiredKeys: [] },
);
const resources = fc.oneof(
  fc.record({ requests: orNull(amounts), limits: orNull(amounts) }),
  fc.constant({ requests: { cpu: "1", memory: "64Mi" }, limits: { cpu: "1", memory: "64Mi" } }),
);

const waitsForApp = "while [ $(netstat -plunt | grep tcp | grep -v envoy | wc -l | xargs) -ne 0 ]; do sleep 1; done";

const names = ["app", "worker", "logs", "istio-proxy", "envoy", "linkerd-proxy", "csql-x", "daprd"];

function containerOf(mounted: fc.Arbitrary<string>): fc.Arbitrary<Loose> {
  const mount = fc.record({ name: mounted, mountPath, readOnly: some(fc.boolean()) });
  return fc
    .record({
      image: some(fc.constantFrom("app:1", "registry.example.com:5000/app@sha256:0", "envoyproxy/envoy:v1.31", "app")),
      command: fc.oneof({ weight: 4, arbitrary: command }, orNull(fc.array(word, { maxLength: 2 }))),
      args: orNull(fc.array(word, { maxLength: 3 })),
      env: orNull(env),
      volumeMounts: orNull(fc.uniqueArray(mount, { selector: (one) => one.mountPath, maxLength: 3 })),
      lifecycle: orNull(
        fc.constantFrom(
          {},
          { postStart: { sleep: { seconds: 1 } } },
          { preStop: null },
          { preStop: { exec: { command: ["sleep", "5"] } } },
          { preStop: { exec: { command: ["/flush"] } } },
          { preStop: { sleep: { seconds: 15 } } },
          { preStop: { sleep: { seconds: 600 } } },
          { postStart: { exec: { command: ["/warm"] } }, preStop: { sleep: { seconds: 3 } } },
          { preStop: { exec: { command: ["/ebb", "hold"] } } },
          { preStop: { exec: { command: ["/bin/sh", "-c", waitsForApp] } } },
        ),
      ),
      ports: orNull(
        fc.subarray([{ containerPort: 8080 }, { containerPort: 9090 }, { containerPort: 53, protocol: "UDP" }]),
      ),
      resources: orNull(resources),
      restartPolicy: some(fc.constantFrom("Always", "Never")),
      more: unknown,
    })
    .map(withMore);
}

/** Puts unknown fields before the others, where they have to stay, and leaves out fields that are undefined. */
function withMore({ more, ...fields }: Loose): Loose {
  const own = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries([...Object.entries(more), ...own]);
}

const values = [
  "40s",
  "0",
  "never",
  "always",
  "istio",
  "dapr,envoy:9911",
  "none",
  "TERM:QUIT",
  "true",
  "/x",
  "POST http://localhost/q",
  "soon",
  "",
];
const annotation = fc.tuple(
  fc.oneof(
    fc.constantFrom(
      "ebb.dev/drain",
      "ebb.dev/quit-on",
      "ebb.dev/sidecar",
      "ebb.dev/grace",
      "ebb.dev/pod-grace",
      "ebb.dev/quit",
    ),
    fc.constantFrom("ebb.dev/drain.app", "ebb.dev/quit-on.app", "ebb.dev/pod-annotations", "ebb.dev/drian", "other/x"),
  ),
  fc.constantFrom(...values),
);
const entrypoint = fc.tuple(
  fc.constantFrom("ebb.dev/entrypoint", "ebb.dev/entrypoint.app"),
  fc.constantFrom('["/img", "a b"]', "/img x", "'x'"),
);
const rolesSaid = fc.tuple(
  fc.constantFrom("ebb.dev/apps", "ebb.dev/sidecars", "ebb.dev/sidecars", "ebb.dev/native"),
  fc.constantFrom("app", "app,worker", "logs, app", "logs", "envoy", "true", "false", "true,istio", "nobody", ""),
);
const annotations = fc
  .tuple(
    fc.array(annotation, { maxLength: 3 }),
    some(entrypoint),
    some(rolesSaid),
    some(rolesSaid),
    fc.constantFrom<readonly string[]>(
      [],
      ["ebb.dev/inject", "true"],
      ["ebb.dev/inject", "true"],
      ["ebb.dev/inject", "false"],
    ),
  )
  .map(([all, ...more]) =>
    Object.fromEntries([...all, ...more.filter((one) => one !== undefined && one.length > 0)] as Loose),
  );

/**
 * Generates pods that the API server would accept, or nearly, with all fields that ebb reads and some that it does not
 * know.
 */
export const anyPod: fc.Arbitrary<Loose> = fc
  .subarray(volumes)
  .chain((there) => {
    const mounted = there.length === 0 ? fc.constant("data") : fc.constantFrom(...there.map(({ name }) => name));
    const container = containerOf(mounted);
    return fc.record({
      kept: fc.constant(there),
      containers: fc.tuple(
        fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }),
        fc.array(container, { minLength: 3, maxLength: 3 }),
      ),
      inits: orNull(
        fc.tuple(
          fc.uniqueArray(fc.constantFrom("setup", "ebb-install", "kuma-sidecar"), { maxLength: 2 }),
          fc.array(container, { minLength: 2, maxLength: 2 }),
        ),
      ),
      annotations: orNull(annotations),
      metadata: unknown,
      spec: fc.record({
        restartPolicy: orNull(fc.constantFrom("Always", "OnFailure", "Never")),
        terminationGracePeriodSeconds: orNull(fc.constantFrom(0, 1, 2, 30, 120)),
        securityContext: orNull(fc.constantFrom({}, { runAsUser: 0 }, { runAsUser: 1000, fsGroup: 1000 })),
        resources: some(fc.constant({ requests: { cpu: "1" } })),
        more: unknown,
      }),
    });
  })
  .map(({ kept, containers, inits, annotations: said, metadata, spec }) => ({
    metadata: withMore({ annotations: said, more: metadata }),
    spec: withMore({
      ...spec,
      containers: named(containers),
      initContainers: inits === undefined || inits === null ? inits : named(inits),
      volumes: kept.length === 0 ? undefined : kept,
    }),
  }));

function named([wanted, made]: Loose): Loose {
  return wanted.map((name: string, at: number) => withMore({ name, more: made[at] }));
}

/** What a registry may say of an image. */
const anyLookup: fc.Arbitrary<Lookup> = fc.oneof(
  fc
    .record({
      entrypoint: fc.oneof({ weight: 3, arbitrary: command }, fc.constant([])),
      cmd: fc.array(word, { maxLength: 2 }),
      stopSignal: fc.constantFrom(undefined, undefined, "SIGQUIT", "15", "SIGKILL"),
    })
    .map((said) => ({ kind: "found" as const, command: said })),
  fc.constant({ kind: "unknown" as const, failure: "timeout" as const, reason: "no answer from the registry" }),
);

/** Generates policies of injection. A registry says the same of all images. */
export const anyPolicy: fc.Arbitrary<InjectPolicy> = fc.record({
  imageOf: fc.option(
    anyLookup.map((lookup) => () => lookup),
    { nil: undefined },
  ),
  image: fc.constantFrom("ebb:1", "registry.example.com/ebb:2"),
  imagePullPolicy: fc.constantFrom(undefined, "Always" as const),
  all: fc.boolean(),
  volume: fc.constantFrom("emptyDir" as const, "image" as const),
  options: fc.constantFrom(new Map(), new Map([["drain", "20s"]]), new Map([["quit-timeout", "2s"]])),
  entrypoints: fc.constantFrom(
    new Map(),
    new Map([["app", ["/of-app"]]]),
    new Map([["registry.example.com:5000/app", ["/img", "x"]]]),
  ),
});

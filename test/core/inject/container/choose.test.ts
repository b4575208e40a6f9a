import { expect, test } from "bun:test";
import { injectPod } from "../../../../src/core/inject/patch.ts";
import { sidecarIn } from "../../../../src/core/sidecars/containers.ts";
import { app, changed, type Given, type Loose, podOf, policy, refusal, warnings } from "../injection.ts";

const named = (name: string, more: object = {}) => app({ name, ...more });

/** The commands of a changed pod, by container. */
function commandsOf(pod: Loose): Record<string, readonly string[]> {
  return Object.fromEntries(pod.spec.containers.map(({ name, command }: Loose) => [name, command]));
}

test("all containers but the sidecars are started by ebb; init containers, native sidecars and ephemeral ones are left alone", () => {
  const initContainers = [
    named("setup"),
    named("istio-proxy", { restartPolicy: "Always" }),
    named("helper", { restartPolicy: "Always" }),
  ];
  const ephemeralContainers = [named("debugger")];
  const containers = [named("a"), named("linkerd-proxy"), named("b")];
  const { spec } = changed({ containers, spec: { initContainers, ephemeralContainers } });
  expect(spec.containers.map(({ command }: Loose) => command[0])).toEqual(["/ebb.dev/ebb", "/app", "/ebb.dev/ebb"]);
  expect(spec.containers[1]).toEqual(containers[1]);
  expect(spec.initContainers.slice(1)).toEqual(initContainers);
  expect(spec.ephemeralContainers).toEqual(ephemeralContainers);
});

test.each<[string, readonly string[], string | undefined]>([
  ["agent", ["app", "agent"], undefined],
  ["agnt", ["app", "agent"], "agent"],
  ["agent, Envoi", ["app", "agent", "envoi"], "envoi"],
  ["setp", ["app"], "setup"],
  ["nothing-near", ["app"], ""],
  ["istio-proxy", ["app"], undefined], // it may be injected later
])(
  "ebb.dev/sidecars: %s beside %j: a container that is not there is warned of, with the name that is near",
  (text, names, near) => {
    const given = {
      annotations: { "ebb.dev/sidecars": text },
      containers: names.map((name) => named(name)),
      spec: { initContainers: [named("setup")] },
    };
    const absent = text.split(", ").find((name) => !names.includes(name));
    const hint = near === "" ? "" : `; did you mean ${near}?`;
    const message = `there is no container "${absent}": this pod's containers are ${[...names, "setup"].join(", ")}${hint}`;
    expect(warnings(given)).toEqual(near === undefined ? [] : [["metadata.annotations[ebb.dev/sidecars]", message]]);
  },
);

test.each<[string, string | undefined, string | undefined]>([
  ["istio-proxy", undefined, "istio"],
  ["proxy", "gcr.io/istio-release/proxyv2:1.29", "istio"],
  ["envoy", undefined, "envoy"],
  ["proxy", "docker.io/envoyproxy/envoy:v1.31", "envoy"],
  ["proxy", "registry.example.com:5000/envoyproxy/envoy-distroless:v1@sha256:00", "envoy"],
  ["linkerd-proxy", undefined, "linkerd"],
  ["kuma-sidecar", undefined, "kuma"],
  ["consul-dataplane", undefined, "consul"],
  ["consul-dataplane-web", undefined, "consul"],
  ["daprd", undefined, "dapr"],
  ["vault-agent", undefined, "vault-agent"],
  ["cloud-sql-proxy", undefined, "cloud-sql-proxy"],
  ["cloudsql-proxy", undefined, "cloud-sql-proxy"],
  ["csql-default-db", undefined, "cloud-sql-proxy"],
  ["db", "gcr.io/cloud-sql-connectors/cloud-sql-proxy:2.11", "cloud-sql-proxy"],
  ["app", "registry.example.com/envoy-control:1", undefined],
  ["my-envoy-app", "envoy/app", undefined],
  ["app", "envoy:5000/app", undefined],
  ["app", undefined, undefined],
])("a container %s of the image %s: %s", (name, image, sidecar) => {
  expect(sidecarIn(name, image) as string | undefined).toBe(sidecar);
});

test("sidecars of other kinds are not started either", () => {
  const { app: first, ...rest } = commandsOf(
    changed({ containers: [app(), named("otc-container"), named("xray-daemon")] }),
  );
  expect(first?.[0]).toBe("/ebb.dev/ebb");
  expect(Object.values(rest).map(([path]) => path)).toEqual(["/app", "/app"]);
});

test("a sidecar is known by its image, too", () => {
  const proxy = named("proxy", { image: "envoyproxy/envoy:v1.31", lifecycle: { preStop: {} } });
  expect(changed({ containers: [app(), proxy] }).spec.containers[1]).toEqual(proxy);
});

test("ebb.dev/sidecars names others that are none of the app's", () => {
  const pod = changed({ containers: [app(), named("metrics")], annotations: { "ebb.dev/sidecars": "metrics" } });
  expect(Object.values(commandsOf(pod)).map(([path]) => path)).toEqual(["/ebb.dev/ebb", "/app"]);
});

test("ebb.dev/containers names those that ebb starts, also one that looks like a sidecar", () => {
  const containers = [named("a"), named("b"), named("envoy")];
  const pod = changed({ containers, annotations: { "ebb.dev/containers": "b, envoy" } });
  expect(Object.values(commandsOf(pod)).map(([path]) => path)).toEqual(["/app", "/ebb.dev/ebb", "/ebb.dev/ebb"]);
});

test.each<[string, Given, string, string]>([
  [
    "a name that is not there",
    { annotations: { "ebb.dev/containers": "app,ap" } },
    "metadata.annotations[ebb.dev/containers]",
    `there is no container "ap": this pod's containers are app`,
  ],
  [
    "an init container's name",
    { annotations: { "ebb.dev/containers": "setup" }, spec: { initContainers: [named("setup")] } },
    "metadata.annotations[ebb.dev/containers]",
    `"setup" is an init container, which ebb never starts: this pod's containers are app`,
  ],
  [
    "no name",
    { annotations: { "ebb.dev/containers": " , " } },
    "metadata.annotations[ebb.dev/containers]",
    'expected names of containers, as in a,b, got " , "',
  ],
  [
    "an option of a container that ebb does not start",
    { annotations: { "ebb.dev/drain.proxy": "5s" } },
    "metadata.annotations[ebb.dev/drain.proxy]",
    'ebb does not start a container "proxy", but app',
  ],
  [
    "a command line of a container that ebb does not start",
    { annotations: { "ebb.dev/entrypoint.b": "/b" } },
    "metadata.annotations[ebb.dev/entrypoint.b]",
    'ebb does not start a container "b", but app',
  ],
])("%s is refused, with those that are there", (_, given, field, message) => {
  expect(refusal(given)).toEqual([[field, message]]);
});

test("what is wrong is told all at once", () => {
  const annotations = { "ebb.dev/containers": "a,c", "ebb.dev/drain": "soon", "ebb.dev/grace.b": "5s" };
  const fields = refusal({ annotations, containers: [named("a", { command: null }), named("b")] }).map(
    ([field]) => field,
  );
  expect(fields.toSorted()).toEqual([
    "metadata.annotations[ebb.dev/containers]",
    "metadata.annotations[ebb.dev/drain]",
    "metadata.annotations[ebb.dev/grace.b]",
    "spec.containers[0].command",
  ]);
});

// Commands

test.each<[string, readonly string[], readonly string[]]>([
  ["an app", ["/app", "-v"], ["/ebb.dev/ebb", "run", "--", "/app", "-v"]],
  ["a shell", ["sh", "-c", "scuttle app"], ["/ebb.dev/ebb", "run", "--", "sh", "-c", "scuttle app"]],
  ["tini, which stays", ["/sbin/tini", "--", "/app"], ["/ebb.dev/ebb", "run", "--", "/sbin/tini", "--", "/app"]],
  ["a flag as its name", ["--help"], ["/ebb.dev/ebb", "run", "--", "--help"]],
  ["scuttle, whose place ebb takes", ["scuttle", "/app"], ["/ebb.dev/ebb", "scuttle", "/app"]],
  ["envoy-preflight in a folder", ["/usr/bin/envoy-preflight", "/app"], ["/ebb.dev/ebb", "envoy-preflight", "/app"]],
  [
    "linkerd-await with its flags",
    ["linkerd-await", "-S", "--", "x"],
    ["/ebb.dev/ebb", "linkerd-await", "-S", "--", "x"],
  ],
  ["valet", ["valet", "x"], ["/ebb.dev/ebb", "valet", "x"]],
  ["pilot-agent, which is no wrapper", ["pilot-agent", "wait"], ["/ebb.dev/ebb", "run", "--", "pilot-agent", "wait"]],
])("a command that starts %s", (_, command, expected) => {
  const [container] = changed({ containers: [app({ command, args: ["$(X)"] })] }).spec.containers;
  expect([container.command, container.args]).toEqual([expected, ["$(X)"]]);
});

test("a tool's variables stay", () => {
  const env = [
    { name: "ENVOY_ADMIN_API", value: "http://127.0.0.1:15000" },
    { name: "NEVER_KILL_ISTIO", value: "true" },
  ];
  const [container] = changed({ containers: [app({ command: ["scuttle", "/app"], env })] }).spec.containers;
  expect(container.env.slice(0, 2)).toEqual(env);
});

test.each([
  ["/ebb", "run", "--", "/app"],
  ["/shared/ebb", "/app"],
  ["ebb", "scuttle", "/app"],
])("a container that starts an ebb of its own (%s %s) gets what the pod tells, and keeps its command", (...command) => {
  const { spec } = changed({ containers: [app({ command })], annotations: { "ebb.dev/drain": "10s" } });
  expect(spec.containers[0].command).toEqual(command);
  expect(spec.containers[0].env).toContainEqual({ name: "EBB_DRAIN", value: "10s" });
  expect(spec.containers[0].lifecycle).toBeUndefined();
  expect(spec.containers[0].volumeMounts.map(({ name }: Loose) => name)).toEqual(["ebb-annotations"]);
  expect(spec.initContainers).toBeUndefined();
});

test("a container that starts ebb for something else is left as it is, and said so", () => {
  const given = { containers: [app({ command: ["/ebb", "sleep", "1h"] })] };
  expect(warnings(given)).toEqual([["spec.containers[0].command", "it starts /ebb sleep, which is left as it is"]]);
  expect(injectPod(podOf(given), policy)).toMatchObject({
    kind: "unchanged",
    reason: "there is nothing to change in it",
  });
});

const image = "registry.example.com:5000/team/app:1.2@sha256:00";
const unnamed = (more: object = {}) => ({ name: "app", image, ...more });
const entrypoints = (name: string) => ({ entrypoints: new Map([[name, ["/from-policy"]]]) });

test.each<[string, Given["annotations"], readonly [string] | [], readonly string[]]>([
  ["the annotation of the container", { "ebb.dev/entrypoint.app": '["/a", "b c"]' }, [], ["/a", "b c"]],
  ["the annotation of the pod, as words", { "ebb.dev/entrypoint": " /a  b " }, [], ["/a", "b"]],
  ["the container's before the pod's", { "ebb.dev/entrypoint": "/a", "ebb.dev/entrypoint.app": "/b" }, [], ["/b"]],
  ["--entrypoint by container", {}, ["app"], ["/from-policy"]],
  ["--entrypoint by image", {}, [image], ["/from-policy"]],
  ["--entrypoint by image without its tag", {}, ["registry.example.com:5000/team/app"], ["/from-policy"]],
  ["the annotation before --entrypoint", { "ebb.dev/entrypoint": "/a" }, ["app"], ["/a"]],
  ["a tool", { "ebb.dev/entrypoint": "/bin/scuttle /a" }, [], ["scuttle", "/a"]],
])("what an image starts is told by %s", (_, annotations = {}, [name], expected) => {
  const containers = [unnamed({ args: ["x"] })];
  const [container] = changed({ annotations, containers }, name === undefined ? {} : entrypoints(name)).spec.containers;
  expect(warnings({ annotations, containers }, name === undefined ? {} : entrypoints(name))).toEqual([]);
  const start = expected[0] === "scuttle" ? ["/ebb.dev/ebb"] : ["/ebb.dev/ebb", "run", "--"];
  expect([container.command, container.args]).toEqual([[...start, ...expected], ["x"]]);
});

test.each([
  ["no command", unnamed(), "its whole command line (ENTRYPOINT and CMD)"],
  ["an empty command", unnamed({ command: [] }), "its whole command line (ENTRYPOINT and CMD"],
  ["args alone", unnamed({ args: ["x"] }), "its ENTRYPOINT as annotation ebb.dev/entrypoint.app, as command here"],
])("a container with %s is refused, with what to give and how", (_, container, words) => {
  const [[field, message] = []] = refusal({ containers: [container] });
  expect(field).toBe("spec.containers[0].command");
  expect(message).toContain(image);
  expect(message).toContain(words);
});

test.each(['["/app"', "[1]", "[]", "sh -c 'x y'", "", "a\\ b"])(
  "a command line that cannot be meant is refused: %s",
  (text) => {
    const given = { annotations: { "ebb.dev/entrypoint": text }, containers: [unnamed()] };
    expect(refusal(given)[0]).toEqual([
      "metadata.annotations[ebb.dev/entrypoint]",
      `expected a command line: ["/app", "--port", "80"], or /app --port 80 where no word has blanks or quotes, got ${JSON.stringify(text)}`,
    ]);
  },
);

test("a command line for the pod is that of the one container without a command", () => {
  const { spec } = changed({ containers: [app(), { name: "b" }], annotations: { "ebb.dev/entrypoint": "/b" } });
  expect(spec.containers.map(({ command }: Loose) => command[3])).toEqual(["/app", "/b"]);
});

test("one command line is not taken for several containers", () => {
  const annotations = { "ebb.dev/entrypoint": "/a" };
  expect(refusal({ annotations, containers: [unnamed(), { name: "b" }] })).toEqual([
    [
      "metadata.annotations[ebb.dev/entrypoint]",
      "several containers have no command: write ebb.dev/entrypoint.NAME for each of app, b",
    ],
  ]);
});

test.each(["ebb.dev/entrypoint", "ebb.dev/entrypoint.app"])(
  "%s of a container with a command is said to mean nothing",
  (name) => {
    const given = { annotations: { [name]: "/a" } };
    expect(changed(given).spec.containers[0].command).toEqual(["/ebb.dev/ebb", "run", "--", "/app", "serve"]);
    const message = "this says nothing: the container's own command comes first";
    expect(warnings(given)).toEqual([[`metadata.annotations[${name}]`, message]]);
  },
);

// Several containers in a pod that ends

const two = [named("a"), named("b")];

test.each(["Never", "OnFailure"])(
  "restartPolicy %s: several containers would quit the sidecars under each other",
  (restartPolicy) => {
    const [[field, message] = []] = refusal({ containers: two, spec: { restartPolicy } });
    expect(field).toBe("spec.containers");
    expect(message).toContain("whichever of a, b ends first would quit the sidecars that the others still need");
  },
);

const ends = { containers: two, spec: { restartPolicy: "Never" } };

test.each<[string, Given, number]>([
  ["one is named", { ...ends, annotations: { "ebb.dev/containers": "b" } }, 0],
  ["all but one never quit", { ...ends, annotations: { "ebb.dev/quit-on.a": "never" } }, 0],
  ["none of them does", { ...ends, annotations: { "ebb.dev/quit-on": "never" } }, 0],
  [
    "one of them says so itself, as another tool has it",
    { ...ends, containers: [named("a"), named("b", { env: [{ name: "NEVER_KILL_ISTIO", value: "true" }] })] },
    0,
  ],
  ["several are named, with a warning", { ...ends, annotations: { "ebb.dev/containers": "a,b" } }, 1],
  [
    "several are named, and all but one never quit",
    { ...ends, annotations: { "ebb.dev/containers": "a,b", "ebb.dev/quit-on.b": "never" } },
    0,
  ],
  ["the pod is never over", { containers: two }, 0],
  [
    "one of them starts an ebb of its own",
    { ...ends, containers: [named("a"), named("b", { command: ["/ebb", "/b"] })] },
    0,
  ],
])("that is fine where %s", (_, given, count) => {
  changed(given);
  const said = warnings(given);
  expect(said).toHaveLength(count);
  for (const [field] of said) expect(field).toBe("spec.containers");
});

test("a value that ebb run would refuse is no reason to believe that it will not quit", () => {
  const containers = [named("a"), named("b", { env: [{ name: "EBB_QUIT_ON", value: "sometimes" }] })];
  expect(refusal({ ...ends, containers })[0]?.[0]).toBe("spec.containers");
});

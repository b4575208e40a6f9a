import { describe, expect, test } from "bun:test";
import { injectPod, removeFromPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import type { InjectPolicy } from "../../../../../../src/cluster/inject/core/policy.ts";
import { app, changed, type Given, type Loose, podIn, podOf, policy } from "../injection.ts";

const no = { "ebb.dev/inject": "false" };

/** What was injected, and then says no. */
function optedOut(given: Given = {}, changes: Partial<InjectPolicy> = {}): Loose {
  const pod = structuredClone(changed(given, changes));
  Object.assign(pod.metadata.annotations, no);
  return pod;
}

const envoy = { name: "envoy", image: "envoyproxy/envoy:v1.38.0" };
const given: readonly (readonly [string, Given])[] = [
  ["one container", {}],
  ["a hook in the proxy, too", { containers: [app(), envoy] }],
  ["an entrypoint that was told", { containers: [{ name: "app" }], annotations: { "ebb.dev/entrypoint": "/app" } }],
  ["a Job on its node's network", { spec: { restartPolicy: "Never", hostNetwork: true } }],
  [
    "an init container of its own that copies ebb",
    {
      spec: {
        volumes: [{ name: "tools", emptyDir: {} }],
        initContainers: [
          {
            name: "ebb-install",
            image: "r/ebb:1",
            command: ["/ebb", "install", "/ebb.dev/ebb"],
            volumeMounts: [{ name: "tools", mountPath: "/ebb.dev" }],
          },
        ],
      },
    },
  ],
  ["its own volumes", { spec: { volumes: [{ name: "data", emptyDir: {} }] } }],
];

test("a pod that the webhook left as it is: its status goes, by --remove, an opt-out, or an injection", () => {
  const status = { "ebb.dev/status": '{"skipped":"WHY"}' };
  const left = { metadata: { annotations: status }, spec: { containers: [app()] } };
  const without = { spec: { containers: [app()] } };
  expect(removeFromPod(left)).toMatchObject({ kind: "removed", pod: without, containers: [], warnings: [] });
  expect(injectPod(podOf({ annotations: { ...status, ...no } }), policy)).toMatchObject({
    kind: "removed",
    pod: podOf({ annotations: no }),
  });
  expect(changed({ annotations: status })).toEqual(changed());
  expect(injectPod(left, policy)).toMatchObject({ kind: "unchanged", warnings: [] });
});

test("an empty field that ebb does not touch is not put back where the user has deleted it", () => {
  const containers = [app({ lifecycle: { preStop: {} } })];
  const spec = { restartPolicy: "Never", initContainers: [] };
  const pod = changed({ containers, spec }, { volume: "image" });
  delete pod.spec.initContainers;
  delete pod.spec.containers[0].lifecycle;
  const removed = removeFromPod(pod) as { readonly pod: Loose };
  expect(removed.pod.spec).toEqual({ restartPolicy: "Never", containers: [app()] });
});

describe('an injected pod that says ebb.dev/inject: "false"', () => {
  test.each(given)("is what it was before ebb came: %s", (_, pod) => {
    const before = podOf(pod);
    Object.assign(before.metadata.annotations, no);
    expect(injectPod(optedOut(pod), policy)).toMatchObject({ kind: "removed", pod: before, warnings: [] });
  });

  test("with --all, too, and a second time nothing changes", () => {
    const removed = injectPod(optedOut(), { ...policy, all: true });
    if (removed.kind !== "removed") throw new Error(removed.kind);
    expect(removed.containers).toEqual(["app"]);
    expect(injectPod(removed.pod, { ...policy, all: true }).kind).toBe("unchanged");
  });

  test("stays as it is, and it is said why, where its status cannot be read", () => {
    const pod = optedOut();
    pod.metadata.annotations["ebb.dev/status"] = "{";
    const problems = [
      { field: "metadata.annotations[ebb.dev/status]", message: expect.stringContaining("put that back") },
    ];
    expect(injectPod(pod, policy)).toMatchObject({ kind: "refused", isMistake: false, problems });
  });

  test("stays as it is where a container was renamed: without ebb's volume it would not start", () => {
    const pod = optedOut();
    pod.spec.containers[0].name = "renamed";
    const problems = [{ field: "spec.containers[0]", message: expect.stringContaining('"renamed"') }];
    expect(injectPod(pod, policy)).toMatchObject({ kind: "refused", problems });
  });
});

describe("a container that another webhook's program starts by now, before ebb", () => {
  const wrapped = (container: Loose) => {
    container.args = [...container.command, ...(container.args ?? [])];
    container.command = ["/vault/vault-env"];
  };
  const kinds: readonly (readonly [string, object, readonly string[]])[] = [
    ["a command", { args: ["--fast"] }, ["/app", "serve", "--fast"]],
    ["a tool that ebb replaces", { command: ["/bin/scuttle", "/app"] }, ["/bin/scuttle", "/app"]],
    ["an image's command", { command: undefined, args: ["x"] }, ["/image", "x"]],
  ];
  const entrypoints = new Map([["app", ["/image"]]]);

  test.each(kinds)("gets ebb once, as if ebb had come later: %s", (_, more, args) => {
    const pod = changed({ containers: [app(more)] }, { entrypoints });
    wrapped(pod.spec.containers[0]);
    const [container] = podIn(injectPod(pod, { ...policy, isAdmission: true })).spec.containers;
    expect([container.command, container.args]).toEqual([["/ebb.dev/ebb", "run", "--", "/vault/vault-env"], args]);
    const { spec } = changed({ containers: [app({ command: ["/vault/vault-env"], args })] });
    expect(container).toEqual(spec.containers[0]);
  });

  test.each(kinds)("has no ebb once that is removed: %s", (_, more, args) => {
    const pod = optedOut({ containers: [app(more)] }, { entrypoints });
    wrapped(pod.spec.containers[0]);
    const containers = [app({ command: ["/vault/vault-env"], args })];
    expect(injectPod(pod, policy)).toMatchObject({ kind: "removed", pod: podOf({ containers, annotations: no }) });
  });

  test("keeps ebb's volume if ebb is in a shell's script", () => {
    const pod = optedOut();
    const [container] = pod.spec.containers;
    container.command = ["sh", "-c", `. /secrets && exec ${container.command.join(" ")}`];
    const problems = [{ field: "spec.containers[0]", message: expect.stringContaining("by hand") }];
    expect(injectPod(pod, policy)).toMatchObject({ kind: "refused", problems });
  });
});

describe("ebb is removed on request", () => {
  test.each(given)("whatever the annotations say, with a warning where they ask for ebb: %s", (_, pod) => {
    const warnings = [{ field: "metadata.annotations[ebb.dev/inject]", message: expect.stringContaining("again") }];
    expect(removeFromPod(changed(pod))).toMatchObject({ kind: "removed", pod: podOf(pod), warnings });
  });

  test("from a pod that --all took: nothing of ebb is left", () => {
    const pod = { spec: { containers: [app()] } };
    const injection = injectPod(pod, { ...policy, all: true });
    if (injection.kind !== "changed") throw new Error(injection.kind);
    expect(removeFromPod(injection.pod)).toMatchObject({ kind: "removed", pod, warnings: [] });
  });

  const odd = { containers: [1, { command: 1, volumeMounts: [null] }], initContainers: {}, volumes: [{ name: 1 }] };
  test.each([[podOf()], [{}], [null], [{ metadata: { annotations: { "ebb.dev/inject": 1 } } }], [{ spec: odd }]])(
    "nothing is done where ebb is not: %j",
    (pod) => {
      expect(removeFromPod(pod)).toMatchObject({ kind: "unchanged", reason: "ebb is not in it", warnings: [] });
    },
  );

  const lost = (pod: Loose) => {
    const without = structuredClone(pod);
    delete without.metadata.annotations["ebb.dev/status"];
    return without;
  };
  const field = "metadata.annotations[ebb.dev/status]";

  test.each<[string, Loose, string]>([
    [
      "an injected one",
      changed({}),
      '/ebb.dev/ebb in the command of container "app", the init container "ebb-install", the volume "ebb"',
    ],
    [
      "one with ebb's image as volume",
      changed({}, { volume: "image" }),
      '/ebb.dev/ebb in the command of container "app", the volume "ebb"',
    ],
    [
      "one that ebb only drains",
      changed({ containers: [{ name: "app", image: "r/app" }] }),
      'the init container "ebb-install", the volume "ebb"',
    ],
  ])("a pod that has lost its status stays, with a warning that names what stays: %s", (_, pod, found) => {
    const removal = removeFromPod(lost(pod));
    expect(removal).toMatchObject({ kind: "unchanged", reason: "it has no ebb.dev/status", warnings: [{ field }] });
    expect(removal.warnings[0]?.message).toContain(`leaves ${found}: put the annotation back`);
  });

  test("ebb by hand at another path is not taken for what ebb inject has put there", () => {
    const mount = { name: "ebb", mountPath: "/shared" };
    const pod = podOf({
      annotations: no,
      spec: {
        volumes: [{ name: "ebb", emptyDir: {} }],
        initContainers: [
          { name: "install-ebb", image: "r/ebb", command: ["/ebb", "install", "/shared/ebb"], volumeMounts: [mount] },
        ],
      },
      containers: [
        app({ command: ["/shared/ebb", "run", "--"], volumeMounts: [mount] }),
        app({ name: "hook", lifecycle: { preStop: { exec: { command: ["sh", "-c", "/ebb.dev/ebb drain; /x"] } } } }),
      ],
    });
    expect(removeFromPod(pod)).toMatchObject({ kind: "unchanged", reason: "ebb is not in it", warnings: [] });
    expect(injectPod(pod, policy)).toMatchObject({ kind: "unchanged", warnings: [] });
  });

  test("what is no pod is refused", () => {
    expect(removeFromPod({ metadata: { annotations: { "ebb.dev/status": "{}" } } }).kind).toBe("refused");
    const status = { "ebb.dev/status": 1 };
    expect(removeFromPod({ metadata: { annotations: status }, spec: { containers: [app()] } }).kind).toBe("refused");
  });
});

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ImageCommand, ImageQuery, Lookup } from "../../../../../../src/cluster/image/core/lookup.ts";
import { injectPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import { image } from "../chosen.ts";
import { changed, type Loose, podIn, podOf, policy, warnings } from "../injection.ts";
import { type Composed, expand, startedBy } from "../kubelet.ts";
import { found, imageSays, unknownImage } from "../registry.ts";

const job = { restartPolicy: "Never" };

/** Returns the container of a Job's pod, injected while the registry says this of its image. */
function containerOf(container: object, said: Partial<ImageCommand>): Loose {
  const containers = [{ name: "app", image, ...container }];
  return changed({ containers, spec: job }, { imageOf: () => found(said) }).spec.containers[0];
}

const variables = { PORT: "80" };

describe("what an image starts, the container starts under ebb, as the kubelet composes it:", () => {
  const choices = [false, true];
  const words = (name: string, isThere: boolean) => (isThere ? [`/${name}`, `$(PORT)`, `$$ ${name}`] : []);
  const sixteen = choices.flatMap((command) =>
    choices.flatMap((args) =>
      choices.flatMap((entrypoint) => choices.map((cmd) => ({ command, args, entrypoint, cmd }))),
    ),
  );
  test.each(sixteen)("%j", (is) => {
    const [command, args] = [words("command", is.command), words("args", is.args)];
    const [entrypoint, cmd] = [words("entrypoint", is.entrypoint), words("cmd", is.cmd)];
    const before: Composed = { entrypoint, cmd, command, args };
    const expected = startedBy(before, variables);
    const pod = podOf({ containers: [{ name: "app", image, command, args }], spec: job });
    const injection = injectPod(pod, { ...policy, imageOf: () => found({ entrypoint, cmd }) });
    if (expected.length === 0) {
      const message = expect.stringContaining(`${image} has neither ENTRYPOINT nor CMD: nothing would start`);
      expect(injection).toMatchObject({ kind: "skipped", problems: [{ message }] });
      return;
    }
    const { containers } = podIn(injection).spec;
    const started = startedBy({ ...before, command: containers[0].command, args: containers[0].args }, variables);
    expect(started).toEqual(["/ebb.dev/ebb", "run", "--", ...expected]);
    expect(containers[0].args).toEqual(args);
  });
});

test.each([
  ["$(PORT)", "$$(PORT)"],
  ["$$", "$$$"],
  ["$HOME $5 100$", "$HOME $5 100$"],
  ["$é", "$$é"],
  ["sh -c 'echo $(date) $$'", "sh -c 'echo $$(date) $$$'"],
])("a word of an image is written so that the kubelet leaves it as it is: %s", (word, written) => {
  expect(containerOf({}, { entrypoint: ["/app", word] }).command[4]).toBe(written);
  expect(expand(written, variables)).toBe(word);
});

test("whatever a word of an image is, the kubelet leaves it as it is", () => {
  const part = fc.constantFrom("$", "$", "(", ")", "PORT", "a", "é", "\u{1f600}", "$(PORT)", "$$");
  const property = fc.property(fc.string({ unit: part, maxLength: 12 }), (word) => {
    expect(expand(containerOf({}, { entrypoint: ["/app", word] }).command[4], variables)).toBe(word);
  });
  fc.assert(property, { seed: 42, numRuns: 500 });
});

test.each<[string, readonly string[], readonly string[]]>([
  ["a tool whose place ebb takes", ["/bin/scuttle", "/app"], ["/ebb.dev/ebb", "scuttle", "/app"]],
  ["tini, which stays", ["/tini", "--", "/app"], ["/ebb.dev/ebb", "run", "--", "/tini", "--", "/app"]],
  ["a script", ["entrypoint.sh"], ["/ebb.dev/ebb", "run", "--", "entrypoint.sh"]],
])("an image that starts %s", (_, entrypoint, command) => {
  expect(containerOf({}, { entrypoint, cmd: [] }).command).toEqual(command);
});

test("an init inside of another one is warned of in an image, too", () => {
  const given = { containers: [{ name: "app", image }] };
  const said = imageSays({ entrypoint: ["tini", "--", "dumb-init"], cmd: ["/app"] });
  expect(warnings(given, said)).toEqual([
    ["spec.containers[0].command", expect.stringContaining("tini starts dumb-init")],
  ]);
});

test("an image that starts an ebb of its own keeps its command, and is told what the pod says", () => {
  const container = containerOf({}, { entrypoint: ["/ebb", "run", "--"], cmd: ["/app"], stopSignal: "SIGQUIT" });
  expect(container).not.toHaveProperty("command");
  expect(container.env).toContainEqual({ name: "EBB_STOP_SIGNAL", value: "QUIT,TERM,INT" });
  const other = { containers: [{ name: "app", image, args: ["sleep", "1h"] }], spec: job };
  expect(warnings(other, imageSays({ entrypoint: ["/ebb"] }))).toEqual([
    ["spec.containers[0].command", "it starts /ebb sleep, which is left as it is"],
  ]);
});

test.each<[string | undefined, object, string | undefined]>([
  ["SIGQUIT", {}, "QUIT,TERM,INT"],
  ["QUIT", {}, "QUIT,TERM,INT"],
  ["3", {}, "3,TERM,INT"],
  ["SIGRTMIN+3", {}, "RTMIN+3,TERM,INT"],
  ["37", {}, "37,TERM,INT"],
  ["SIGTERM", {}, undefined],
  ["15", {}, undefined],
  [undefined, {}, undefined],
  ["SIGKILL", {}, undefined],
  ["nonsense", {}, undefined],
  ["QUIT,HUP", {}, undefined],
  ["SIGQUIT", { lifecycle: { stopSignal: "SIGUSR1" } }, "USR1,TERM,INT"],
  ["SIGQUIT", { lifecycle: { stopSignal: "SIGTERM" } }, undefined],
  ["SIGQUIT", { env: [{ name: "EBB_STOP_SIGNAL", value: "HUP" }] }, "HUP"],
])("STOPSIGNAL %p of an image, and %j in the manifest: ebb is told %p", (stopSignal, more, told) => {
  const { env } = containerOf(more, { entrypoint: ["/app"], stopSignal });
  expect(env.filter(({ name }: Loose) => name === "EBB_STOP_SIGNAL").map(({ value }: Loose) => value)).toEqual(
    told === undefined ? [] : [told],
  );
});

test("an annotation of the stop signal wins over the image's", () => {
  const given = { containers: [{ name: "app", image }], annotations: { "ebb.dev/stop-signal": "HUP" } };
  const { env } = changed(given, imageSays({ entrypoint: ["/app"], stopSignal: "SIGQUIT" })).spec.containers[0];
  expect(env).toContainEqual({ name: "EBB_STOP_SIGNAL", value: "HUP" });
});

test.each(["nonsense", "0".repeat(16_000).concat("3"), "QUIT".padEnd(16_000)])(
  "a STOPSIGNAL that is none leaves no trace in the pod: %.10s",
  (stopSignal) => {
    const given = { containers: [{ name: "app", image }] };
    expect(changed(given, imageSays({ stopSignal }))).toEqual(changed(given, imageSays({})));
  },
);

test("a STOPSIGNAL that nothing can catch is warned of", () => {
  expect(warnings({ containers: [{ name: "app", image }] }, imageSays({ stopSignal: "SIGKILL" }))).toEqual([
    ["spec.containers[0].image", expect.stringContaining("ebb cannot catch SIGKILL")],
  ]);
});

describe("the registry is asked", () => {
  const selector = (key: string, value: string) => ({ nodeSelector: { [key]: value } });
  const affinity = (...terms: readonly object[]) => {
    const nodeSelectorTerms = terms.map((expression) => ({ matchExpressions: [expression] }));
    return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } };
  };
  const arch = (operator: string, ...values: readonly string[]) => ({ key: "kubernetes.io/arch", operator, values });

  test.each<[object, readonly string[]]>([
    [{}, ["amd64", "arm64"]],
    [selector("kubernetes.io/arch", "arm64"), ["arm64"]],
    [selector("beta.kubernetes.io/arch", "amd64"), ["amd64"]],
    [selector("disk", "ssd"), ["amd64", "arm64"]],
    [affinity(arch("In", "arm64", "s390x")), ["arm64"]],
    [affinity(arch("NotIn", "arm64")), ["amd64"]],
    [affinity(arch("In", "amd64"), arch("In", "arm64")), ["amd64", "arm64"]],
    [affinity(arch("In", "amd64"), { key: "disk", operator: "Exists" }), ["amd64", "arm64"]],
    [{ ...selector("kubernetes.io/arch", "amd64"), ...affinity(arch("In", "arm64")) }, ["amd64", "arm64"]],
  ])("for the processors of the nodes that the pod may run on: %j", (spec, architectures) => {
    const asked: ImageQuery[] = [];
    const imageOf = (query: ImageQuery) => {
      asked.push(query);
      return found({});
    };
    changed({ containers: [{ name: "app", image }], spec }, { imageOf });
    expect(asked).toEqual([{ image, architectures } as ImageQuery]);
  });

  test.each<[string, object, object]>([
    ["the container's command", { command: ["/own"] }, {}],
    ["an annotation", {}, { annotations: { "ebb.dev/entrypoint": "/own" } }],
    ["--entrypoint", {}, { entrypoints: new Map([["app", ["/own"]]]) }],
    ["an injection before", {}, { before: { "ebb.dev/entrypoint": "/own" } }],
  ])("never if %s says the command", (_, container, { annotations, entrypoints, before }: Loose) => {
    const imageOf = (): Lookup => {
      throw new Error("asked");
    };
    const given = { containers: [{ name: "app", image, ...container }], annotations: annotations ?? before };
    const pod = changed(given, { imageOf, ...(entrypoints === undefined ? {} : { entrypoints }) });
    if (before !== undefined) delete pod.metadata.annotations["ebb.dev/entrypoint"];
    const later = injectPod(pod, { ...policy, imageOf });
    expect(later.kind).toBe("unchanged");
    expect(pod.spec.containers[0].command.slice(3)).toEqual(["/own"]);
  });

  test("for each container without a command, but for sidecars", () => {
    const containers = [
      { name: "a", image: "a:1" },
      { name: "b", image: "b:1" },
      { name: "istio-proxy", image: "p:1" },
    ];
    const asked: string[] = [];
    const imageOf = (query: ImageQuery) => {
      asked.push(query.image);
      return found({});
    };
    changed({ containers }, { imageOf });
    expect(asked).toEqual(["a:1", "b:1"]);
  });
});

describe("what a registry told an injection before", () => {
  const injected = (args: readonly string[] = [], changes: object = {}) => {
    const said = { entrypoint: ["/app"], cmd: ["serve"], stopSignal: "SIGQUIT" };
    return structuredClone(
      changed({ containers: [{ name: "app", image, args }], spec: job }, { ...imageSays(said), ...changes }),
    );
  };

  test("is asked for again, and brought up to date", () => {
    const later = podIn(injectPod(injected(), { ...policy, ...imageSays({ entrypoint: ["/new"], cmd: [] }) }));
    expect(later.spec.containers[0].command).toEqual(["/ebb.dev/ebb", "run", "--", "/new"]);
    expect(later.spec.containers[0].env.map(({ name }: Loose) => name)).not.toContain("EBB_STOP_SIGNAL");
  });

  test.each<[string, object]>([
    ["the same is said", imageSays({ entrypoint: ["/app"], cmd: ["serve"], stopSignal: "SIGQUIT" })],
    ["no registry answers", unknownImage],
    ["no registry is asked", {}],
  ])("stays, and nothing changes, if %s", (_, changes) => {
    for (const args of [[], ["x"]])
      expect(injectPod(injected(args), { ...policy, ...changes })).toMatchObject({ kind: "unchanged", warnings: [] });
  });

  test("is of no use for another image: ebb is taken out of the Job, and it is said why", () => {
    const pod = injected();
    pod.spec.containers[0].image = "registry.example.com:5000/team/app:2";
    const later = injectPod(pod, { ...policy, ...unknownImage });
    const message = expect.stringContaining('the command of "app" is unknown: WHY; ');
    expect(later).toMatchObject({ kind: "removed", containers: ["app"], problems: [{ message }] });
    const known = podIn(injectPod(pod, { ...policy, ...imageSays({ entrypoint: ["/two"], cmd: [] }) }));
    expect(known.spec.containers[0].command).toEqual(["/ebb.dev/ebb", "run", "--", "/two"]);
  });

  test.each<[string, readonly string[], readonly string[] | undefined]>([
    ["came", [], ["x"]],
    ["went", ["x"], undefined],
  ])("is of no use once args %s: ebb is taken out of the Job, and it is said why", (_, before, after) => {
    const pod = injected(before);
    pod.spec.containers[0].args = after;
    const later = injectPod(pod, { ...policy, ...unknownImage });
    const message = expect.stringContaining('the command of "app" is unknown: WHY; ');
    expect(later).toMatchObject({ kind: "removed", containers: ["app"], problems: [{ message }] });
    expect((later as Loose).pod.spec).toEqual({ containers: [{ name: "app", image, args: after }], ...job });
  });

  test("gives way to what the user says now", () => {
    const later = podIn(injectPod(injected(), { ...policy, entrypoints: new Map([["app", ["/said"]]]) }));
    expect(later.spec.containers[0].command).toEqual(["/ebb.dev/ebb", "run", "--", "/said"]);
    expect(later.metadata.annotations["ebb.dev/status"]).not.toContain("image");
  });
});

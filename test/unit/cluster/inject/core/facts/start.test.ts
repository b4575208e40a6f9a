import { expect, test } from "bun:test";
import { injectPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import { image } from "../chosen.ts";
import { app, changed, type Given, type Loose, podOf, policy, refusal, warnings } from "../injection.ts";

test.each([
  ["/ebb", "run", "--", "/app"],
  ["/shared/ebb", "run", "/app"],
  ["ebb", "scuttle", "/app"],
])("a container that starts an ebb of its own (%s %s) gets what the pod tells, and keeps its command", (...command) => {
  const { spec } = changed({ containers: [app({ command })], annotations: { "ebb.dev/drain": "10s" } });
  expect(spec.containers[0].command).toEqual(command);
  expect(spec.containers[0].env).toContainEqual({ name: "EBB_DRAIN", value: "10s" });
  expect(spec.containers[0].lifecycle).toBeUndefined();
  expect(spec.containers[0].volumeMounts.map(({ name }: Loose) => name)).toEqual(["ebb-annotations"]);
  expect(spec.initContainers).toBeUndefined();
});

test.each([
  ["sleep", "1h"],
  ["/app", "serve"],
])("a container that starts ebb for something else (%s) is left as it is, and said so", (word, more) => {
  const given = { containers: [app({ command: ["/ebb", word, more] })] };
  const message = `it starts /ebb ${word}, which is left as it is`;
  expect(warnings(given)).toEqual([["spec.containers[0].command", message]]);
  expect(injectPod(podOf(given), policy)).toMatchObject({
    kind: "unchanged",
    reason: "there is nothing to change",
  });
});

test.each<[string, string, readonly string[], (readonly string[])?]>([
  ["sh", "scuttle", ["sh", "-c", "scuttle /app"]],
  ["bash", "linkerd-await", ["/bin/bash", "-ec", "set -x\n exec /usr/bin/linkerd-await --shutdown -- /app"]],
  ["sh", "envoy-preflight", ["/bin/sh", "-c"], ["cd /srv && A=1 envoy-preflight /app"]],
  ["sh", "tini", ["sh", "-c", "if true; then exec tini -- /app; fi"]],
  ["tini", "scuttle", ["/sbin/tini", "--", "/scuttle", "/app"]],
  ["tini", "scuttle", ["tini", "-g", "-e", "143", "--", "scuttle"], ["/app"]],
  ["dumb-init", "linkerd-await", ["dumb-init", "--rewrite", "15:3", "linkerd-await", "/app"]],
  ["tini-static", "dumb-init", ["tini-static", "-p", "SIGTERM", "dumb-init", "/app"]],
  ["sh", "scuttle", ["catatonit", "--", "sh", "-c", "scuttle /app"]],
  ["scuttle", "dumb-init", ["scuttle", "dumb-init", "/app"]],
  ["linkerd-await", "scuttle", ["linkerd-await", "--timeout", "5s", "--", "scuttle", "/app"]],
])("%s that starts %s is warned of: %j %j", (outer, name, command, args = []) => {
  const message = `${outer} starts ${name} here, and ebb does what ${name} does: remove ${name} from the command`;
  const containers = [app({ command, args })];
  expect(warnings({ containers })).toEqual([["spec.containers[0].command", message]]);
  const again = injectPod(changed({ containers }), policy);
  expect(again).toMatchObject({ kind: "unchanged", warnings: [{ message }] });
});

test.each<[readonly string[], (readonly string[])?]>([
  [["tini", "--", "/app"]],
  [["dumb-init", "sh", "-c", "exec /app"]],
  [["scuttle", "/app"]],
  [["sh", "-c", "echo scuttle; /app --with tini"]],
  [["sh", "-c", "cp /scuttle /shared/ && /app/scuttled x"]],
  [["sh", "/scuttle.sh"]],
  [["/app"], ["scuttle", "/x"]],
])("nothing is warned of in %j %j", (command, args = []) => {
  expect(warnings({ containers: [app({ command, args })] })).toEqual([]);
});

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

test.each(['["/app"', "[1]", "[]", "sh -c 'x y'", "", "a\\ b"])(
  "a command line that cannot be meant is refused: %s",
  (text) => {
    const given = { annotations: { "ebb.dev/entrypoint": text }, containers: [unnamed()] };
    expect(refusal(given)[0]).toEqual([
      "metadata.annotations[ebb.dev/entrypoint]",
      `expected a command line: ["/app", "--port", "80"], or /app --port 80 where no word contains spaces or quotes, got ${JSON.stringify(text)}`,
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
    const message = "ignored: the container's own command wins";
    expect(warnings(given)).toEqual([[`metadata.annotations[${name}]`, message]]);
  },
);

import { expect, test } from "bun:test";
import { named } from "../chosen.ts";
import { app, type Given, refusal, warnings } from "../injection.ts";

test.each<[string, Given, string]>([
  ["by their names", { containers: [named("istio-proxy")] }, "if one of them is the app, name it in ebb.dev/apps"],
  [
    "by ebb.dev/sidecars",
    { containers: [named("istio-proxy"), named("logs")], annotations: { "ebb.dev/sidecars": "logs" } },
    "take the app out of ebb.dev/sidecars (logs)",
  ],
])("a pod that asks for ebb and has only sidecars, %s, is refused, with the cure", (_, given, cure) => {
  const all = given.containers?.map((one) => (one as { name: string }).name).join(", ");
  expect(refusal(given)).toEqual([["spec.containers", `there are only sidecars here (${all}): ${cure}`]]);
});

test.each<[string, Given, string, string]>([
  [
    "a name that is not there",
    { annotations: { "ebb.dev/apps": "app,ap" } },
    "metadata.annotations[ebb.dev/apps]",
    `there is no container "ap": this pod's containers are app`,
  ],
  [
    "an init container's name",
    { annotations: { "ebb.dev/apps": "setup" }, spec: { initContainers: [named("setup")] } },
    "metadata.annotations[ebb.dev/apps]",
    `"setup" is an init container, which ebb never starts: this pod's containers are app`,
  ],
  [
    "an app that is a sidecar",
    { annotations: { "ebb.dev/apps": "b", "ebb.dev/sidecars": "b" }, containers: [app(), named("b")] },
    "metadata.annotations[ebb.dev/apps]",
    '"b" is in ebb.dev/sidecars, too',
  ],
  [
    "an option of a container that ebb does not start",
    { annotations: { "ebb.dev/drain.proxy": "5s" } },
    "metadata.annotations[ebb.dev/drain.proxy]",
    'ebb does not start a container "proxy"; it starts app',
  ],
  [
    "a command line of a container that ebb does not start",
    { annotations: { "ebb.dev/entrypoint.b": "/b" } },
    "metadata.annotations[ebb.dev/entrypoint.b]",
    'ebb does not start a container "b"; it starts app',
  ],
])("an annotation with %s is refused, with those that are there", (_, given, field, message) => {
  expect(refusal(given)).toEqual([[field, message]]);
});

test.each<[string, readonly string[], string | undefined]>([
  ["agent", ["app", "agent"], undefined],
  ["agnt", ["app", "agent"], "agent"],
  ["agent, Envoi", ["app", "envoi", "agent"], "envoi"],
  ["setp", ["app"], "setup"],
  ["nothing-near", ["app"], ""],
  ["istio-proxy", ["app"], undefined], // it may be injected later
])(
  "ebb.dev/sidecars: %s beside %j: a container that is not there is warned of, with the name that is near",
  (text, names, near) => {
    const given = {
      annotations: { "ebb.dev/sidecars": text, "ebb.dev/native": "false" },
      containers: names.map((name) => named(name)),
      spec: { initContainers: [named("setup")] },
    };
    const absent = text.split(", ").find((name) => !names.includes(name));
    const hint = near === "" ? "" : `; did you mean ${near}?`;
    const message = `there is no container "${absent}": this pod's containers are ${[...names, "setup"].join(", ")}${hint}`;
    expect(warnings(given)).toEqual(near === undefined ? [] : [["metadata.annotations[ebb.dev/sidecars]", message]]);
  },
);

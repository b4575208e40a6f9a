import { expect, test } from "bun:test";
import { app, warnings } from "../injection.ts";

test.each<[string, object, object, string | undefined]>([
  ["with ports and no probe", {}, {}, "app"],
  ["with a readinessProbe", { readinessProbe: { httpGet: { port: 80 } } }, {}, undefined],
  ["with a startupProbe", { startupProbe: { httpGet: { port: 80 } } }, {}, undefined],
  ["of a Job", {}, { restartPolicy: "Never" }, undefined],
  ["with a port for UDP alone", { ports: [{ containerPort: 53, protocol: "UDP" }] }, {}, undefined],
])("of apps that get traffic while ebb waits, the first is warned of: apps %s", (_, more, spec, name) => {
  const ports = [{ containerPort: 80 }];
  const containers = [app({ ports, ...more }), app({ name: "other", ports, ...more })];
  const ofOther = { "ebb.dev/quit-on.other": "never" };
  const message = `while ebb waits for the sidecars, "${name}" counts as ready and gets traffic: give it a readinessProbe`;
  const told = name === undefined ? [] : [["spec.containers[0].readinessProbe", message]];
  const said = (annotations: object, ...added: object[]) =>
    warnings({ containers: [...containers, ...added], spec, annotations: { ...ofOther, ...annotations } }).filter(
      ([field]) => field.includes("Probe"),
    );
  const named = ["sidecar: auto,istio", "ready: tcp://localhost:1", "admin: http://localhost:9901", "sidecars: helper"];
  for (const one of named) {
    const [key = "", value] = one.split(/: (.*)/);
    const helper = key === "sidecars" ? [{ name: "helper", image: "x", ports: [{ containerPort: 9 }] }] : [];
    expect([one, said({ [`ebb.dev/${key}`]: value }, ...helper)]).toEqual([one, told as never]);
  }
  expect(said({}, { name: "istio-proxy" })).toEqual(told as never);
  expect(said({ "sidecar.istio.io/status": "{}" })).toEqual(told as never);
  expect(said({})).toEqual([]); // no sidecar is shown or named
  expect(said({ "ebb.dev/sidecar": "none" }, { name: "istio-proxy" })).toEqual([]);
});

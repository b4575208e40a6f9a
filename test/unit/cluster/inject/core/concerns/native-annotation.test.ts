import { expect, test } from "bun:test";
import { injectPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import { again } from "../injected-pods.ts";
import { app, changed, policy, refusal } from "../injection.ts";

// Native sidecars

const native = (name: string) => app({ name, restartPolicy: "Always" });
const csql = (name: string) => ({ ...native(name), image: "cloud-sql-proxy:2" });

test.each<[string, readonly object[], string | undefined]>([
  ["a native sidecar is named, for ebb to know", [app({ name: "setup" }), native("envoy")], "envoy"],
  ["several are, each once", [native("istio-proxy"), csql("csql-a"), csql("csql-b")], "istio,cloud-sql-proxy"],
  ["by its image, too", [app({ name: "proxy", image: "envoyproxy/envoy:v1.31", restartPolicy: "Always" })], "envoy"],
  ["one that ebb does not know is not", [native("logs")], undefined],
  ["nor an init container that ends", [app({ name: "envoy" })], undefined],
])("%s", (_, initContainers, expected) => {
  const { metadata } = changed({ spec: { initContainers } });
  expect(metadata.annotations["ebb.dev/native"]).toBe(expected);
});

test("a native sidecar that is gone, or came, changes that; what the pod says itself stays", () => {
  const given = { spec: { initContainers: [native("envoy")] } };
  const gone = again(given, (pod) => pod.spec.initContainers.pop());
  expect(gone.metadata.annotations).not.toHaveProperty("ebb.dev/native");
  const came = again({}, (pod) => pod.spec.initContainers.push(native("envoy")));
  expect(came.metadata.annotations["ebb.dev/native"]).toBe("envoy");
  const said = changed({ ...given, annotations: { "ebb.dev/native": "kuma" } });
  expect(said.metadata.annotations["ebb.dev/native"]).toBe("kuma");
  expect(injectPod(said, policy).kind).toBe("unchanged");
});

test.each(["", "evnoy", "envoy,x", "true,x", "envoy,true"])(
  "native sidecars that ebb does not know are refused: %j",
  (text) => {
    const [[field, message] = []] = refusal({ annotations: { "ebb.dev/native": text } });
    expect(field).toBe("metadata.annotations[ebb.dev/native]");
    expect(message).toStartWith("expected true, false, or sidecars that are native, of istio, envoy,");
  },
);

test("native sidecars may be named in a pod that does not ask for ebb: auto reads them, whoever starts it", () => {
  const annotations = { "ebb.dev/native": "envoy" };
  expect(injectPod({ metadata: { annotations }, spec: { containers: [app()] } }, policy).warnings).toEqual([]);
});

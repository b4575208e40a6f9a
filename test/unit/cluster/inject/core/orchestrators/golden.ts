import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { Pod } from "../../../../../../src/cluster/inject/core/pod.ts";
import type { Loose } from "../injection.ts";

/** Reads the pod in a file of this folder. */
export function podIn(file: string): Pod {
  return parse(readFileSync(join(import.meta.dirname, `${file}.yaml`), "utf8")) as Pod;
}

const proxy = { name: "istio-proxy", image: "docker.io/istio/proxyv2:1.31.1", args: ["proxy", "sidecar"] };
const native = { ...proxy, restartPolicy: "Always" };

/** Returns the annotation by which Istio says what it has injected. */
export const istioStatus = (of: object) => ({ "sidecar.istio.io/status": JSON.stringify(of) });

/** Returns a pod in this folder with Istio's sidecar, as an ordinary container or a native one. */
export function withIstio(file: string, isNative = false, annotations: object = {}): Loose {
  const { metadata, spec } = podIn(file) as Loose;
  const said = istioStatus(isNative ? { initContainers: ["istio-proxy"] } : { containers: ["istio-proxy"] });
  return {
    metadata: { ...metadata, annotations: { ...metadata.annotations, ...said, ...annotations } },
    spec: {
      ...spec,
      containers: isNative ? spec.containers : [...spec.containers, proxy],
      initContainers: [...(isNative ? [native] : []), ...(spec.initContainers ?? [])],
    },
  };
}

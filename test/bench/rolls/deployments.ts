import { images } from "../../cluster/cluster.ts";
import { envoyPort, envoySidecar, inbound, patience, podInfo } from "../../cluster/envoy.ts";
import { injected, sidecarKind } from "../../cluster/istio/istio.ts";
import {
  type Container,
  configMapOf,
  type KubeObject,
  type PodSpec,
  serviceOf,
  withPod,
} from "../../cluster/objects.ts";
import { programs } from "../../cluster/programs.ts";
import { blockWith, fill } from "../../cluster/readme/blocks.ts";
import { type Load, loadPrograms } from "../../cluster/run/rollout.ts";

/** A Deployment `web` of two pods, as in the manual, with what belongs to it. */
export interface Deployed {
  /** The kind of sidecar. */
  readonly name: string;
  /** The labels of its namespace. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly objects: readonly KubeObject[];
  /** The ports of the Service `web`. */
  readonly ports: Pick<Load, "port" | "grpcPort">;
}

const APP = 8081;
const GRPC = 8082;
/** Envoy's own port for gRPC. */
const ENVOY_GRPC = 8090;

const { command, volumeMounts } = programs.container("web", "server.ts", "0.0.0.0", `${APP}`, `${GRPC}`);
const server = { '"/my-server"': command.map((word) => JSON.stringify(word)).join(", ") };
const two = { replicas: 2, strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } };

export const deployments: readonly Deployed[] = [
  ownEnvoy("ordinary Envoy", false),
  ownEnvoy("native Envoy", true),
  istio("ordinary Istio", false),
  istio("native Istio", true),
];

/** The README's Deployment. */
function istio(name: string, isNative: boolean): Deployed {
  const text = fill(blockWith("kind: Deployment").text, { "registry.example.com/web": images.bunAndEbb, ...server });
  const web = withPod(
    parse(text),
    ({ containers: [app], ...spec }) => ({ ...spec, containers: [appOf(app)], volumes: [programs.volume] }),
    sidecarKind(isNative),
  );
  const service = serviceOf("web", { http: APP, grpc: GRPC });
  return { name, labels: injected, objects: [loadPrograms, web, service], ports: { port: APP, grpcPort: GRPC } };
}

/** The Deployment of drain.md with an Envoy of its own, which has another port for gRPC here; or with a native one. */
function ownEnvoy(name: string, isNative: boolean): Deployed {
  const manual = blockWith("name: install-ebb", "src/manual/drain.md").text;
  const text = fill(fill(manual, { shop: "web" }), {
    "registry.example.com/ebb:0.1.0": images.ebb,
    "registry.example.com/web": images.bun,
    "registry.example.com/envoy": images.envoy,
    ...server,
  });
  const grpc = { ...inbound, name: "grpc", port: ENVOY_GRPC, httpPort: GRPC, isHttp2: true };
  const { data } = envoySidecar({ upstreamPort: APP, listeners: [inbound, grpc] }).configMap;
  const configMap = configMapOf("web-envoy", { "envoy.yaml": Object.values(data as object)[0] });
  const change = isNative ? withNative : (spec: PodSpec) => spec;
  const web = withPod(
    parse(text),
    ({ containers: [app, envoy], volumes = [], ...spec }) =>
      change({ ...spec, containers: [appOf(app), envoy as Container], volumes: [...volumes, programs.volume] }),
    isNative ? { "ebb.dev/native": "envoy" } : {},
  );
  const service = serviceOf("web", { http: envoyPort, grpc: ENVOY_GRPC });
  const objects = [configMap, loadPrograms, web, service];
  return { name, objects, ports: { port: envoyPort, grpcPort: ENVOY_GRPC } };
}

/** Makes the second container a native sidecar, which needs no hook, and shows ebb the annotation that says so. */
function withNative({ containers: [app, envoy], initContainers = [], volumes = [], ...spec }: PodSpec): PodSpec {
  const { lifecycle, ...sidecar } = envoy as Container;
  return {
    ...spec,
    initContainers: [...initContainers, { ...sidecar, restartPolicy: "Always" }],
    containers: [withMounts(app, [podInfo.mount])],
    volumes: [...volumes, podInfo.volume],
  };
}

/** The manual's app, with the programs and a patient probe. */
function appOf(app: Container | undefined): Container {
  const readinessProbe = { ...(app?.readinessProbe as object), periodSeconds: 1, ...patience };
  return withMounts({ ...(app as Container), readinessProbe }, volumeMounts);
}

function withMounts(container: Container | undefined, more: readonly object[]): Container {
  const { volumeMounts: own = [], ...rest } = container as Container & { readonly volumeMounts?: readonly object[] };
  return { ...rest, volumeMounts: [...own, ...more] };
}

function parse(text: string): KubeObject {
  const { spec, ...object } = Bun.YAML.parse(text) as KubeObject & { readonly spec: object };
  return { ...object, spec: { ...two, ...spec } };
}

/** A program that we did not write, compiled from its source, which comes through the Go module proxy. */
export interface Program {
  /** The name of its executable, and so of its processes. */
  readonly name: string;
  /** The folder in `modules` whose go.mod and go.sum pin all that is compiled; `bun test/sidecars/pin.ts` makes it. */
  readonly pins: string;
  /** The path of its Go module. */
  readonly module: string;
  readonly version: string;
  /** The folder of its package main in the module; by default the module's root. */
  readonly folder?: string;
  /** The folder, beside this file, of a package main of ours that uses the module and is compiled in its place. */
  readonly own?: string;
  /** Modules that it needs in other versions than its go.mod says, because go.mod replaces them. */
  readonly requires?: readonly string[];
  /** Modules that its go.mod replaces by others: `MODULE=OTHER@VERSION`. Go follows only the main module's go.mod. */
  readonly replaces?: readonly string[];
  /** Go's build tags. */
  readonly tags?: readonly string[];
  /** Go variables that its release sets to its version. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Files and folders of the module that it needs, or that install it: they are put beside the executable. */
  readonly files?: readonly string[];
  /** Go files in the module of which only the package clause is left. */
  readonly emptied?: readonly string[];
  /** Go files that the module lacks, and those of which they are copies: a link in a repository is not in its module. */
  readonly copied?: Readonly<Record<string, string>>;
  /** The tests that need it. */
  readonly usedBy: readonly User[];
}

/** A kind of tests that need programs. */
export type User = "sidecars" | "cluster" | "orchestrators" | "bench" | "release";

const istio = {
  pins: "istio-1.31",
  module: "istio.io/istio",
  version: "v0.0.0-20260827124520-eed52ebb66ad",
  requires: [
    "istio.io/api@v1.31.1",
    "istio.io/client-go@v1.31.1",
    "github.com/envoyproxy/go-control-plane/envoy@v1.40.0",
    "github.com/envoyproxy/go-control-plane/contrib@v1.36.1-0.20260729145720-a2d8c7492908",
  ],
  variables: { "istio.io/istio/pkg/version.buildVersion": "1.31.1" },
} as const;

/**
 * daprd. The emptied file panics unless a tag compiles in all components, which takes an hour; sidecars need none of
 * them.
 */
const dapr = {
  name: "daprd",
  module: "github.com/dapr/dapr",
  folder: "cmd/daprd",
  emptied: ["cmd/daprd/components/zz_notag.go"],
  usedBy: ["sidecars"],
} as const;

/** cert-manager: the last release whose programs are in one module, which replaces nothing that matters. */
const certManager = {
  pins: "cert-manager",
  module: "github.com/cert-manager/cert-manager",
  version: "v1.11.5",
  usedBy: ["cluster"],
} as const;

const argo = {
  pins: "argo-workflows",
  module: "github.com/argoproj/argo-workflows/v4",
  version: "v4.0.5",
  variables: { "github.com/argoproj/argo-workflows/v4.version": "v4.0.5" },
  copied: { "workflow/executor/osspecific/signal_linux.go": "workflow/executor/osspecific/signal_darwin.go" },
  usedBy: ["orchestrators"],
} as const;

/** containerd: the first that has image volumes is 2.1. */
const containerd = {
  pins: "containerd",
  module: "github.com/containerd/containerd/v2",
  version: "v2.4.2",
  variables: { "github.com/containerd/containerd/v2/version.Version": "v2.4.2" },
  usedBy: ["release"],
} as const;

/** All programs. To add another version, add an entry and run `bun test/sidecars/pin.ts NAME`. */
export const programs = {
  "pilot-agent": {
    ...istio,
    name: "pilot-agent",
    folder: "pilot/cmd/pilot-agent",
    tags: ["agent", "disable_pgv"],
    files: ["tools/packaging/common/envoy_bootstrap.json"],
    usedBy: ["sidecars", "cluster"],
  },
  "pilot-discovery": {
    ...istio,
    name: "pilot-discovery",
    folder: "pilot/cmd/pilot-discovery",
    tags: ["vtprotobuf", "disable_pgv"],
    files: ["manifests/charts/base", "manifests/charts/istio-control/istio-discovery"],
    usedBy: ["sidecars", "cluster"],
  },
  "daprd-1.14": {
    ...dapr,
    pins: "dapr-1.14",
    version: "v1.14.0",
    variables: { "github.com/dapr/dapr/pkg/buildinfo.version": "1.14.0" },
  },
  "daprd-1.18": {
    ...dapr,
    pins: "dapr-1.18",
    version: "v1.18.2",
    variables: { "github.com/dapr/dapr/pkg/buildinfo.version": "1.18.2" },
  },
  "cloud-sql-proxy": {
    name: "cloud-sql-proxy",
    pins: "cloud-sql-proxy",
    module: "github.com/GoogleCloudPlatform/cloud-sql-proxy/v2",
    version: "v2.27.0",
    usedBy: ["sidecars"],
  },
  "alloydb-auth-proxy": {
    name: "alloydb-auth-proxy",
    pins: "alloydb-auth-proxy",
    module: "github.com/GoogleCloudPlatform/alloydb-auth-proxy",
    version: "v1.17.1", // v1.17.2 needs Go 1.27.3
    usedBy: ["sidecars"],
  },
  ads: {
    name: "ads",
    pins: "ads",
    own: "xds",
    module: "github.com/envoyproxy/go-control-plane",
    version: "v0.14.0",
    requires: ["github.com/envoyproxy/go-control-plane/envoy@v1.40.0"],
    usedBy: ["sidecars"],
  },
  helm: {
    name: "helm",
    pins: "helm",
    module: "helm.sh/helm/v3",
    version: "v3.22.0",
    folder: "cmd/helm",
    variables: { "helm.sh/helm/v3/internal/version.version": "v3.22.0" },
    usedBy: ["cluster", "release"],
  },
  "helm-4": {
    name: "helm",
    pins: "helm-4",
    module: "helm.sh/helm/v4",
    version: "v4.3.2",
    folder: "cmd/helm",
    variables: { "helm.sh/helm/v4/internal/version.version": "v4.3.2" },
    usedBy: ["release"],
  },
  "cert-manager-controller": {
    ...certManager,
    name: "controller",
    folder: "cmd/controller",
    files: ["deploy/crds", "deploy/charts/cert-manager"],
  },
  "cert-manager-cainjector": { ...certManager, name: "cainjector", folder: "cmd/cainjector" },
  kustomize: {
    name: "kustomize",
    pins: "kustomize",
    module: "sigs.k8s.io/kustomize/kustomize/v5",
    version: "v5.7.1",
    usedBy: ["cluster", "release"],
  },
  "argo-workflow-controller": {
    ...argo,
    name: "workflow-controller",
    folder: "cmd/workflow-controller",
    files: [
      "manifests/base/crds/minimal",
      "manifests/namespace-install/workflow-controller-rbac/workflow-controller-role.yaml",
      "manifests/quick-start/base/executor/emissary/executor-role.yaml",
    ],
  },
  argoexec: { ...argo, name: "argoexec", folder: "cmd/argoexec" },
  containerd: { ...containerd, name: "containerd", folder: "cmd/containerd" },
  "containerd-shim": { ...containerd, name: "containerd-shim-runc-v2", folder: "cmd/containerd-shim-runc-v2" },
  ctr: { ...containerd, name: "ctr", folder: "cmd/ctr" },
  kuberay: {
    name: "ray-operator",
    pins: "kuberay",
    module: "github.com/ray-project/kuberay/ray-operator",
    version: "v1.5.0",
    files: ["config/crd/bases", "config/rbac/role.yaml"],
    usedBy: ["orchestrators"],
  },
  kueue: {
    name: "manager",
    pins: "kueue",
    module: "sigs.k8s.io/kueue",
    version: "v0.17.0",
    folder: "cmd/kueue",
    files: ["charts/kueue"],
    usedBy: ["orchestrators"],
  },
  "envoy-gateway": {
    name: "envoy-gateway",
    pins: "envoy-gateway",
    module: "github.com/envoyproxy/gateway",
    version: "v1.9.1",
    folder: "cmd/envoy-gateway",
    usedBy: ["bench"],
  },
  contour: {
    name: "contour",
    pins: "contour",
    module: "github.com/projectcontour/contour",
    version: "v1.33.8",
    folder: "cmd/contour",
    usedBy: ["bench"],
  },
  cosign: {
    name: "cosign",
    pins: "cosign",
    module: "github.com/sigstore/cosign/v3",
    version: "v3.1.3",
    folder: "cmd/cosign",
    variables: { "sigs.k8s.io/release-utils/version.gitVersion": "v3.1.3" },
    usedBy: ["release"],
  },
  kyverno: {
    name: "kyverno",
    pins: "kyverno",
    module: "github.com/kyverno/kyverno",
    version: "v1.19.1",
    folder: "cmd/cli/kubectl-kyverno",
    replaces: [
      "k8s.io/pod-security-admission=github.com/kyverno/pod-security-admission@v0.0.0-20251031094455-46f20778634f",
    ],
    variables: { "github.com/kyverno/kyverno/pkg/version.BuildVersion": "v1.19.1" },
    usedBy: ["release"],
  },
  actionlint: {
    name: "actionlint",
    pins: "actionlint",
    module: "github.com/rhysd/actionlint",
    version: "v1.7.12",
    folder: "cmd/actionlint",
    usedBy: ["release"],
  },
} as const satisfies Readonly<Record<string, Program>>;

export type ProgramName = keyof typeof programs;

/** Returns a program of the table. */
export function programOf(name: ProgramName): Program {
  return programs[name];
}

/** Returns the names of the programs that tests of a kind need. */
export function programsOf(user: User): readonly ProgramName[] {
  const names = Object.keys(programs) as ProgramName[];
  return names.filter((name) => programOf(name).usedBy.includes(user));
}

/** Returns the import path of a program's package main. */
export function packageOf({ module, folder, own }: Program): string {
  if (own !== undefined) return ".";
  return folder === undefined ? module : `${module}/${folder}`;
}

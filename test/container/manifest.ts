import { resolve } from "node:path";

interface PodSpec {
  readonly securityContext: Security;
  readonly initContainers: readonly ContainerSpec[];
  readonly containers: readonly ContainerSpec[];
}

export interface ContainerSpec {
  readonly name: string;
  readonly command: readonly string[];
  readonly securityContext: Security;
  readonly resources: { readonly limits: { readonly memory: string; readonly cpu: string } };
}

interface Security {
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly readOnlyRootFilesystem?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly capabilities?: { readonly drop: readonly string[] };
  readonly seccompProfile?: { readonly type: string; readonly localhostProfile?: string };
}

/** Returns the pod template of the manifest in a README whose object has this name. @throws Error if there is none */
export function podNamed(name: string, readme: string): PodSpec {
  const manifests = [...readme.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml = ""]) => Bun.YAML.parse(yaml));
  type Manifest = {
    readonly metadata: { readonly name: string };
    readonly spec: { readonly template: { spec: PodSpec } };
  };
  const found = (manifests as Manifest[]).find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`no manifest is named ${name}`);
  return found.spec.template.spec;
}

/**
 * Returns podman's flags by which a container gets the rights that the kubelet gives it by its pod's manifest, and no
 * more.
 * @throws Error if it would run as root although the manifest forbids that
 */
export function securityFlags(pod: PodSpec, container: ContainerSpec): readonly string[] {
  const { runAsNonRoot, runAsUser, runAsGroup, ...security } = { ...pod.securityContext, ...container.securityContext };
  if (runAsNonRoot && runAsUser === 0) throw new Error(`${container.name} would run as root`);
  return [
    ...["--user", `${runAsUser}:${runAsGroup}`],
    ...(security.readOnlyRootFilesystem ? ["--read-only", "--read-only-tmpfs=false"] : []),
    ...(security.allowPrivilegeEscalation === false ? ["--security-opt", "no-new-privileges"] : []),
    ...(security.capabilities?.drop ?? []).flatMap((name) => ["--cap-drop", name]),
    ...["--security-opt", `seccomp=${profileOf(security.seccompProfile)}`],
  ];
}

/**
 * Returns the path of a seccomp profile. RuntimeDefault is podman's own, like those of containerd and CRI-O in what
 * matters.
 */
function profileOf(profile: Security["seccompProfile"]): string {
  if (profile?.type === "RuntimeDefault") return "/usr/share/containers/seccomp.json";
  if (profile?.localhostProfile === "ebb.json") return resolve(import.meta.dirname, "../../build/seccomp.json");
  throw new Error(`no such seccomp profile here: ${JSON.stringify(profile)}`);
}

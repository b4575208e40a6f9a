/** An archive of a release for one platform. */
interface Archive {
  /** As Kubernetes and krew name them: linux or darwin, amd64 or arm64. */
  readonly os: string;
  readonly arch: string;
  readonly uri: string;
  /** In hexadecimal. */
  readonly sha256: string;
}

/**
 * Returns krew's manifest of the plugin, as krew's index has it (krew.sigs.k8s.io/docs/developer-guide/plugin-manifest).
 * Each archive has the executable as `ebb` and LICENSE. `version` is without a `v`.
 */
export function krewManifest(version: string, homepage: string, archives: readonly Archive[]): string {
  const platforms = archives.map(
    ({ os, arch, uri, sha256 }) => `    - selector:
        matchLabels:
          os: ${os}
          arch: ${arch}
      uri: ${JSON.stringify(uri)}
      sha256: ${sha256}
      bin: ebb
`,
  );
  return `apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: ebb
spec:
  version: v${version}
  homepage: ${JSON.stringify(homepage)}
  shortDescription: Finds and ends pods that a sidecar keeps running
  description: |
    Shows pods that have a sidecar, explains why one is stuck, and ends the sidecar,
    with or without ebb in the pod.
  caveats: |
    For completion, link the plugin under another name too:
      ln -s kubectl-ebb "\${KREW_ROOT:-$HOME/.krew}/bin/kubectl_complete-ebb"
  platforms:
${platforms.join("")}`;
}

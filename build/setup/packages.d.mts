/** A Debian package, and a way to see whether it is installed. */
export type NeededPackage = {
  readonly name: string;
  /** A program in PATH, a file that `gcc` finds, or a file that exists. */
  readonly check:
    | { readonly program: string }
    | { readonly gcc: string; readonly finds: string }
    | { readonly file: string };
};
/** The names of Debian and GCC for architectures, such as "x86_64-linux-gnu", by the value of `process.arch`. */
export const triplets: Readonly<Record<string, string>>;
/** The names of Debian for architectures, such as "amd64", by the value of `process.arch`. */
export const debianNames: Readonly<Record<string, string>>;
/** The architecture that ebb is built for and that this machine does not have: "arm64" on x64. */
export const otherArch: string;
/** The package that runs executables of other architectures and processors, and its programs that are used. */
export const emulators: { readonly name: string; readonly programs: readonly string[] };
/**
 * Returns the Debian packages that the static link for an architecture ("x64", "arm64") needs on this machine.
 * @throws Error if ebb is not built for it
 */
export function packagesFor(arch: string): NeededPackage[];
/** Returns the names of the packages of `packagesFor(arch)` that are not installed, each once. */
export function missingPackages(arch: string): string[];
/** The Debian packages that the container test needs. Each is named like its program. */
export const containerPackages: readonly string[];
/** The Debian packages of a real registry and its images. Each is named like its program. */
export const registryPackages: readonly string[];
/** The Debian packages of the init processes that tests and bench run beside ebb. Each is named like its program. */
export const initPackages: readonly string[];
/** The Debian packages that a Kubernetes of our own needs beside its own executables. */
export const clusterPackages: readonly NeededPackage[];
/** Reports whether this machine has what a `check` looks for. */
export function isInstalled(check: NeededPackage["check"]): boolean;
/** The Debian packages that the real sidecars need for networks of their own. */
export const sidecarPackages: readonly NeededPackage[];
/** The Debian packages that the tests of a release need: what pushes an image, a registry, and a CA. */
export const releasePackages: readonly NeededPackage[];
/** Returns the apt-get command that installs packages. */
export function aptInstall(names: readonly string[]): [program: string, ...words: string[]];
/** Returns the command, for people, that installs all that the link for an architecture needs. */
export function installCommand(arch: string): string;
/** Reports whether a program is in PATH. */
export function isInPath(program: string): boolean;

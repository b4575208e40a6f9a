/** A Debian package, and one way to see that it is there. */
export type NeededPackage = {
  readonly name: string;
  readonly check:
    | { readonly program: string }
    | { readonly gcc: string; readonly finds: string }
    | { readonly file: string };
};
/** Debian's and GCC's name of each architecture: "x86_64-linux-gnu". */
export const triplets: Readonly<Record<string, string>>;
/** Debian's name of each architecture: "amd64". */
export const debianNames: Readonly<Record<string, string>>;
/** The architecture that this machine is not of. */
export const otherArch: string;
/** What runs executables of other architectures and processors, and the programs of it that are used. */
export const emulators: { readonly name: string; readonly programs: readonly string[] };
/** The Debian packages that the static link for an architecture ("x64", "arm64") needs on this machine. */
export function packagesFor(arch: string): NeededPackage[];
/** The names of those packages that are missing. */
export function missingPackages(arch: string): string[];
/** The Debian packages that the container test needs, each named as the program in it. */
export const containerPackages: readonly string[];
/** The other init processes that tests and bench run beside ebb, named likewise. */
export const initPackages: readonly string[];
/** Those that a Kubernetes of our own needs beside its own executables. */
export const clusterPackages: readonly NeededPackage[];
/** Whether what a `check` looks for is on this machine. */
export function isThere(check: NeededPackage["check"]): boolean;
/** Those that the real sidecars need for networks of their own. */
export const sidecarPackages: readonly NeededPackage[];
/** The command that installs these packages. */
export function aptInstall(names: readonly string[]): [program: string, ...words: string[]];
/** The command that installs all that an architecture needs. */
export function installCommand(arch: string): string;
/** Whether a program is in PATH. */
export function isInPath(program: string): boolean;

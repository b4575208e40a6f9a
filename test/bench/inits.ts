import { spawnSync } from "node:child_process";
import { aptInstall, initPackages, isInPath } from "../../build/setup/packages.mjs";
import { type Candidate, parseRival } from "./candidates.ts";

/**
 * Returns the tini and dumb-init of PATH, without those in `given`. As root on Debian it first installs missing ones.
 */
export function findInits(given: readonly Candidate[]): readonly Candidate[] {
  const wanted = initPackages.filter((name) => !given.some((rival) => rival.name === name));
  const missing = wanted.filter((name) => !isInPath(name));
  if (missing.length > 0) install(missing);
  return wanted.flatMap((name) => {
    const path = Bun.which(name);
    if (path === null) console.log(`${name} is not in PATH: it takes no part`);
    return path === null ? [] : [parseRival(`${name}=${path}`)];
  });
}

function install(missing: readonly string[]): void {
  if (process.getuid?.() !== 0 || !isInPath("apt-get")) return;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const [program, ...words] of [["apt-get", "update"], aptInstall(missing)] as const) {
    console.log([program, ...words].join(" "));
    spawnSync(program, words, { env });
  }
}

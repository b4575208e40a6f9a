// Installs what a fresh machine lacks, and says what it does. Plain Node: nothing else is there yet.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { missingPackages } from "./packages.mjs";

const root = new URL("..", import.meta.url).pathname;

if (!existsSync(`${root}/node_modules/.bin/bun`)) run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]);

const missing = missingPackages(process.arch);
if (missing.length > 0) {
  const canInstall = process.getuid?.() === 0 && existsSync("/usr/bin/apt-get");
  const names = missing.map((each) => (typeof each === "string" ? each : (each.name ?? each.package)));
  if (!canInstall) {
    console.error(`setup: missing: install them with: apt-get install ${names.join(" ")}`);
    process.exit(1);
  }
  run("apt-get", ["update", "-qq"]);
  run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...names]);
}

function run(command, args) {
  console.log(`setup: ${command} ${args.join(" ")}`);
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
  if (status !== 0) process.exit(status ?? 1);
}

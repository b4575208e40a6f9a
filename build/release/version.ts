import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

/**
 * Returns the places in the tree at `project`, and those of `tags`, the tags of its commit, that have another version
 * than package.json: `package-lock.json: 0.1.0`. What is built takes its version from package.json.
 */
export function otherVersions(project: string, tags: readonly string[]): readonly string[] {
  const read = (path: string): string => readFileSync(join(project, path), "utf8");
  const { version } = JSON.parse(read("package.json"));
  const lock = JSON.parse(read("package-lock.json"));
  const chart = parse(read("build/chart/Chart.yaml"));
  const labels = read("Dockerfile.distroless").matchAll(/image\.version="([^"]*)"/g);
  const found: readonly (readonly [string, string | undefined])[] = [
    ["package-lock.json", lock.version],
    ["package-lock.json", lock.packages[""].version],
    ["build/chart/Chart.yaml", chart.version],
    ["build/chart/Chart.yaml", chart.appVersion],
    ...[...labels].map(([, label]) => ["Dockerfile.distroless", label] as const),
    ["src/CHANGELOG.md", /^## ([^\s,]+)/m.exec(read("src/CHANGELOG.md"))?.[1]],
    ...tags.filter((tag) => /^v\d/.test(tag)).map((tag) => [`the tag ${tag}`, tag.slice(1)] as const),
  ];
  return found.filter(([, has]) => has !== version).map(([place, has]) => `${place}: ${has}`);
}

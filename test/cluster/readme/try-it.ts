import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { images, type Namespace, namespace, serviceAddress } from "../cluster.ts";
import { hasCondition } from "../objects.ts";
import { blocksIn, fill } from "./blocks.ts";
import { type Shell, startShell } from "./shell.ts";

// Each manifest and command of the manual's page `try-it`, as it stands there, in the order of the page; only images are
// others. There is no DNS here, so the client's manifest has the Service's address in the place of its name.

const page = "src/manual/try-it.md";

/** The commands that are not run here, by their first words: they make, fill and delete a cluster of the reader's. */
const notRun = ["docker build ", "kind ", "minikube "];

const blocks = blocksIn(page);
const lines = blocks.filter(({ kind }) => kind === "lines");
const isRun = (line: string) => !notRun.some((words) => line.startsWith(words));

/** The images of the page. */
const own = {
  "busybox:1.37": images.busybox,
  "envoyproxy/envoy:v1.40.0": images.envoy,
  '"envoy", "-c"': '"/envoy", "-c"',
};

/** The page's manifests, by the names of the files as which a reader saves them. */
const manifests = new Map(
  [...readFileSync(join(import.meta.dirname, "../../..", page), "utf8").matchAll(/```yaml\n([\s\S]*?)^```$/gm)].map(
    ({ 1: yaml = "", index, input }) => [[...input.slice(0, index).matchAll(/`([\w-]+\.yaml)`/g)].at(-1)?.[1], yaml],
  ),
);

/** A Job hangs without ebb and ends with it; a rollout loses requests without ebb, and none with it. */
export async function tryIt(): Promise<void> {
  expect(lines.flatMap(({ text }) => text.trimEnd().split("\n")).filter(isRun).length).toBeGreaterThan(20);
  expect([...manifests.keys()]).toEqual(["config.yaml", "job.yaml", "web.yaml", "load.yaml"]);
  await using here = await namespace();
  await using shell = await startShell(here.name);
  await save(shell, "config.yaml", {});
  await save(shell, "job.yaml", own);
  await save(shell, "web.yaml", own);
  const rest = lines.flatMap(({ text }) => {
    const some = text.trimEnd().split("\n").filter(isRun);
    return some.length === 0 ? [] : [some];
  });
  /** Runs the page's next block. */
  const next = async (): Promise<string> => {
    const said: string[] = [];
    for (const line of rest.shift() ?? []) said.push((await shell.run(asRunHere(line))).stdout);
    return said.join("");
  };

  await next(); // the ConfigMap
  const [apply = "", wait = "", get = ""] = rest.shift() ?? [];
  await shell.run(apply);
  expect(await shell.tryRun(wait)).toMatchObject({ code: 1, stderr: expect.stringContaining("timed out waiting") });
  expect((await shell.run(get)).stdout).toMatch(/^report-\S+ +1\/2 +NotReady /m);
  const log = await next();
  expect(hasCondition(await here.job("report"), "Complete")).toBe(true);
  expect(log).toContain("the report is written");
  expect(log).toContain('"ebb: asked the sidecar to exit"');

  const [deploy, expose, ...more] = rest.shift() ?? [];
  await shell.run([deploy, expose].join("\n"));
  await save(shell, "load.yaml", {
    "busybox:1.37": images.busybox,
    "http://web/": `http://${await serviceAddress(here, "web")}/`,
  });
  await shell.run(more.join("\n"));
  await twoAreLeft(here);
  const without = countsIn(await next());
  expect(without.LOST).toBeGreaterThan(0);

  await next(); // the Deployment gets ebb
  await twoAreLeft(here);
  await next(); // new clients, and a restart
  await twoAreLeft(here);
  const counts = countsIn(await next());
  expect(Object.keys(counts)).toEqual(["answered"]);
  expect(counts.answered).toBeGreaterThan(16);
  console.log("requests of a rollout: without ebb", without, "with ebb", counts);

  await next(); // clean up
  expect(rest).toEqual([]);
  expect(await here.kubectl("get", "all,configmaps", "-o", "name")).not.toMatch(/\/(web|report|try)$/m);
}

/** Saves a manifest of the page in the shell's folder, with other words. */
async function save(shell: Shell, name: string, words: Readonly<Record<string, string>>): Promise<void> {
  await writeFile(join(shell.folder, name), fill(manifests.get(name) ?? "", words));
}

/** Returns a line of the page as it is run here: `docker run` of ebb's image is the executable. */
function asRunHere(line: string): string {
  return line.replace("docker run --rm -i ebb:0.1.0 ", "ebb ").replace("--image ebb:0.1.0", `--image ${images.ebb}`);
}

/** Waits until the pods that a rollout has ended are gone. */
async function twoAreLeft(here: Namespace): Promise<void> {
  await here.until("only two pods of web are left", async () => (await here.pods("app=web")).length === 2);
}

/** Reads what `sort | uniq -c` prints. */
function countsIn(text: string): Readonly<Record<string, number>> {
  return Object.fromEntries([...text.matchAll(/^ *(\d+) (\S+)$/gm)].map(([, count, word]) => [word, Number(count)]));
}

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withContent } from "../../../build/markdown.ts";
import packageJson from "../../../package.json";
import { columns } from "../../../src/shared/core/columns.ts";
import { ebb } from "../../harness/ebb.ts";
import { images, type Namespace } from "../cluster.ts";
import { envoySidecar } from "../envoy.ts";
import { installPlugin } from "../kubectl/plugin.ts";
import { deploymentOf, jobOf } from "../objects.ts";
import { createPod, type Installation, installation, reaperInstallation } from "../webhook/installation.ts";

// The output that the manual's pages show is what the commands print of a scene in a cluster. To write it into the pages:
// EBB_WRITE_PAGES=1 npm run test:cluster -- test/cluster/readme/output.test.ts

const manual = join(import.meta.dirname, "..", "..", "..", "src", "manual");
const env = { KUBECONFIG: process.env.KUBECONFIG ?? "" };
const plugin = installPlugin();
const { configMap, volume, container: envoy } = envoySidecar({ upstreamPort: 8081 });
const app = (...command: readonly string[]) => ({ name: "app", image: images.app, command });

let shop: Namespace;
let webhook: Installation;
let reaper: Installation;
/** The words of a reader's cluster, by those of this one. */
let words: ReadonlyMap<string, string>;

beforeAll(async () => {
  webhook = await installation();
  reaper = await reaperInstallation(() => ({}));
  for (const each of [webhook, reaper]) expect(await each.kubectl("apply", "--server-side")).toMatchObject({ code: 0 });
  shop = await webhook.namespace();
  await shop.apply([configMap, deploymentOf("catalog", { containers: [app("/child", "record")] })]);
  await shop.kubectl("rollout", "status", "deployment/catalog", "--timeout=120s");
  for (const { here, name } of [webhook, reaper])
    await here.kubectl("rollout", "status", `deployment/${name}`, "--timeout=120s");
  await shop.kubectl("label", "namespace", shop.name, "ebb.dev/inject=true");
  await shop.until("the webhook is asked", async () => (await createPod(shop, {})).initContainers.length > 0);

  const migrate = jobOf("migrate", { containers: [app("/child", "exit", "0"), envoy], volumes: [volume] });
  Object.assign((migrate.spec as { template: { metadata: object } }).template.metadata, {
    annotations: { "ebb.dev/inject": "false" },
  });
  await shop.apply([migrate, deploymentOf("web", { containers: [app("/child", "record"), envoy], volumes: [volume] })]);
  const [catalog, web, job] = await Promise.all([shop.podOf("catalog"), shop.podOf("web"), shop.podOf("migrate")]);
  await shop.kubectl("rollout", "status", "deployment/web", "--timeout=120s");
  const dry = ["reaper", "--once", "--namespace", shop.name, "--all-jobs", "--dry-run"];
  await shop.until("the Job's pod is stuck", async () => (await ebb(dry, { env })).stdout.includes("would end"));
  words = new Map([
    [catalog.metadata.name, "catalog-6d4b75cb6d-8hx2f"],
    [web.metadata.name, "web-5c9f8d7b64-q7w9k"],
    [job.metadata.name, "migrate-x7k2p"],
    [`${webhook.here.name}/${webhook.name}`, "ebb-webhook/ebb-webhook"],
    [`${reaper.here.name}/${reaper.name}`, "ebb-reaper/ebb-reaper"],
    [images.ebb, `registry.example.com/ebb:${packageJson.version}`],
    [shop.name, "shop"],
  ]);
}, 300_000);

afterAll(async () => {
  plugin[Symbol.dispose]();
  for (const each of [shop, reaper, webhook]) await each?.[Symbol.asyncDispose]();
}, 120_000);

/** The commands by the names of the places that have their output: `<!-- NAME output -->`. */
const commands: Readonly<Record<string, readonly [page: string, command: string]>> = {
  status: ["kubectl.md", "kubectl ebb status -A"],
  why: ["kubectl.md", "kubectl ebb why -n shop migrate-x7k2p"],
  reaper: ["reaper.md", "ebb reaper --once --namespace shop --all-jobs --dry-run"],
  doctor: ["doctor.md", "ebb doctor --namespace shop"],
};

test.each(Object.entries(commands))(
  "the output of %s in the manual is what is printed",
  async (name, [page, command]) => {
    const path = join(manual, page);
    const text = readFileSync(path, "utf8");
    const lines = [`$ ${command}`, ...(await printedBy(command))].map((line) => `    ${line}`.trimEnd());
    const made = withContent(text, `${name} output`, `\n${lines.join("\n")}\n\n`);
    if (process.env.EBB_WRITE_PAGES === "1" && made !== undefined) writeFileSync(path, made);
    else expect(text).toBe(made ?? `a page with <!-- ${name} output -->`);
  },
);

/** Runs a command as a reader types it. Resolves with the lines that it prints of this scene, in the reader's words. */
async function printedBy(command: string): Promise<readonly string[]> {
  const [program, ...own] = [...words]
    .reduce((text, [ours, theirs]) => text.replaceAll(theirs, ours), command)
    .split(" ");
  const { stdout } = program === "kubectl" ? await plugin.kubectl(own) : await ebb(own, { env });
  const ours = [...words.keys()];
  const all = stdout.trimEnd().split("\n");
  const hasNamespaces = all[0]?.startsWith("NAMESPACE ") === true;
  /** Other tests have pods, and a webhook and a reaper, in the same cluster. */
  const mayBeOthers = (line: string, at: number) =>
    /^(webhook|reaper) /.test(line) || (hasNamespaces && at > 0 && / {2,}/.test(line));
  const isOurs = (line: string, at: number) => !mayBeOthers(line, at) || ours.some((word) => line.includes(word));
  const text = all.filter(isOurs).join("\n");
  const theirs = [...words].reduce((shown, [one, other]) => shown.replaceAll(one, other), text);
  const lines = theirs.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "2026-11-27T04:00:07.000Z").split("\n");
  const isComponent = (line: string) => /^(webhook|reaper) /.test(line); // in the order of their namespaces' names
  return aligned([...lines.filter(isComponent).sort(), ...lines.filter((line) => !isComponent(line))]);
}

/** Aligns the columns of tables again, whose words are others now: they are two blanks or more apart. */
function aligned(lines: readonly string[]): readonly string[] {
  const rows = lines.map((line) => (/^\S.* {2,}\S/.test(line) ? line.split(/ {2,}/) : [line]));
  return rows.flatMap((row, at) => {
    if (row.length === 1) return row;
    if ((rows[at - 1]?.length ?? 1) > 1) return []; // the table's first row has brought it
    const end = rows.findIndex((each, other) => other > at && each.length === 1);
    return columns(rows.slice(at, end === -1 ? undefined : end));
  });
}

import { describe, expect, test } from "bun:test";
import { ebb, until } from "../../harness/ebb.ts";
import { kubectl, tryKubectl } from "../kubectl.ts";

// Webhook and reaper, installed and removed as the README says: by the text that `ebb manifests` prints for each.

const components = ["webhook", "reaper"] as const;
type Component = (typeof components)[number];

/**
 * The objects in its text, under names that begin with `name` rather than `ebb`, as `kubectl get` names them; and kubectl
 * with this text. Its pods do not start.
 */
async function manifestsOf(component: Component, name: string, ...flags: readonly string[]) {
  const call = ["manifests", component, "--image", "localhost/none:1", ...flags];
  const { code, stdout, stderr } = await ebb(call);
  if (code !== 0) throw new Error(`ebb ${call.join(" ")}: exit code ${code}\n${stderr}`);
  const text = stdout.replaceAll(`ebb-${component}`, `${name}-${component}`);
  const run = (...words: readonly string[]) => tryKubectl([...words, "-f", "-"], { stdin: text });
  return {
    run,
    async there(): Promise<readonly string[]> {
      const { stdout } = await run("get", "--ignore-not-found", "-o", "name");
      return stdout.trim().split("\n").filter(Boolean).sort();
    },
  };
}

const ofBoth = [
  ["the webhook first", "webhook", "reaper"],
  ["the reaper first", "reaper", "webhook"],
] as const;

describe.each<[string, (name: string) => readonly string[]]>([
  ["in namespaces of their own", () => []],
  ["in one namespace that exists", (name) => ["--namespace", name]],
])("each component can be removed alone, %s:", (_, flagsOf) => {
  test.concurrent.each(ofBoth)("%s", async (_, gone, left) => {
    const name = `test-${crypto.randomUUID().slice(0, 8)}`;
    const flags = flagsOf(name);
    const isShared = flags.length > 0;
    if (isShared) await kubectl(["create", "namespace", name]);
    const manifests = {
      webhook: await manifestsOf("webhook", name, ...flags),
      reaper: await manifestsOf("reaper", name, ...flags),
    };
    await using _cleanup = {
      async [Symbol.asyncDispose]() {
        for (const each of components) await manifests[each].run("delete", "--ignore-not-found", "--wait=false");
        if (isShared) await kubectl(["delete", "namespace", name, "--wait=false"]);
      },
    };
    for (const each of components) {
      expect(await manifests[each].run("apply", "--server-side")).toMatchObject({ code: 0, stderr: "" });
    }
    const before = await manifests[left].there();
    expect(before.length).toBeGreaterThan(3);
    expect(await manifests[gone].run("delete")).toMatchObject({ code: 0, stderr: "" });
    expect(await manifests[gone].there()).toEqual([]);
    expect(await manifests[left].there()).toEqual(before);
    expect(await manifests[left].run("delete")).toMatchObject({ code: 0, stderr: "" });
    await until("nothing of either is left", async () => (await leftOf(name)).length === 0, 60_000);
    const namespaces = await kubectl(["get", "namespaces", "-o", "name"]);
    expect(namespaces.split("\n").filter((each) => each.includes(name))).toEqual(isShared ? [`namespace/${name}`] : []);
  });
});

/** All that has the name in the cluster, whatever printed it. */
async function leftOf(name: string): Promise<readonly string[]> {
  const kinds = [
    "clusterroles,clusterrolebindings,mutatingwebhookconfigurations",
    "deployments,services,roles,rolebindings,serviceaccounts,poddisruptionbudgets",
  ];
  const all = await Promise.all(kinds.map((each) => kubectl(["get", each, "--all-namespaces", "-o", "name"])));
  return all
    .join("\n")
    .split("\n")
    .filter((each) => each.includes(`/${name}-`));
}

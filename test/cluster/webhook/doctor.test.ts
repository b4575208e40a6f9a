import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Ended, ebb, temporaryFolder } from "../../harness.ts";
import { images, type Namespace, namespace } from "../cluster.ts";
import { kubectl, tryKubectl } from "../kubectl.ts";
import { podOf } from "../objects.ts";
import { idle, inject, installation, startInstallation } from "./installation.ts";

// `ebb doctor` at a terminal, from a webhook that works to one that somebody removed by halves.

const env = { KUBECONFIG: process.env.KUBECONFIG ?? "" };
const waiting = { containers: [{ name: "app", image: images.app, command: ["/child", "record"] }] };

async function lines(...words: readonly string[]): Promise<{ code: Ended["code"]; lines: readonly string[] }> {
  const { code, stdout, stderr } = await ebb(["doctor", ...words], { env });
  expect(stderr).toBe("");
  return { code, lines: stdout.trimEnd().split("\n") };
}

/** Those that are about a namespace or an installation. */
function about(name: string, all: readonly string[]): readonly string[] {
  return all.filter((line) => line.includes(name));
}

async function makePod(here: Namespace, name: string): Promise<void> {
  await here.apply([podOf(name, waiting, { annotations: inject })]);
}

test("what asked for ebb and has none, or another one, and a leftover registration, are found and named", async () => {
  await using bare = await namespace({ "ebb.dev/inject": "yes" });
  await makePod(bare, "before");
  await using installed = await startInstallation({ webhook: { replicas: 1 } });
  await using here = await installed.namespace();
  const only = ["--namespace", here.name];
  await makePod(here, "fine");
  const fine = await lines(...only);
  expect({ code: fine.code, last: fine.lines.at(-1) }).toEqual({ code: 0, last: "1 pod, 1 with ebb: 0 findings" });
  expect(about(`webhook ${installed.here.name}/${installed.name}`, fine.lines)).toEqual([
    expect.stringMatching(/: 1 of 1 replicas ready, image /),
  ]);

  const first = await lines("--namespace", bare.name);
  expect({ code: first.code, lines: first.lines.filter((line) => !/^(webhook|reaper)\b/.test(line)) }).toEqual({
    code: 1,
    lines: [
      expect.stringMatching(new RegExp(`^Namespace ${bare.name}: its label ebb.dev/inject does nothing: .*got "yes"$`)),
      expect.stringMatching(
        new RegExp(`^Pod ${bare.name}/before: it asks for ebb .* and has none: .*create the pod again$`),
      ),
      "1 pod, 0 with ebb: 2 findings",
    ],
  });

  const { here: own, name } = installed;
  const image = { op: "replace", path: "/spec/template/spec/containers/0/args", value: ["--image=localhost/ebb:next"] };
  await own.kubectl("patch", `deployment/${name}`, "--type=json", "-p", JSON.stringify([image]));
  const other = await lines(...only);
  expect(about(`Pod ${here.name}/fine`, other.lines)).toEqual([
    expect.stringMatching(
      new RegExp(
        `it has ebb from ${images.ebb}, and the webhook now injects localhost/ebb:next: create the pod again$`,
      ),
    ),
  ]);

  await own.kubectl("delete", `service/${name}`, `serviceaccount/${name}`, "--wait=false");
  const left = await lines();
  expect(left.code).toBe(1);
  expect(about(`Configuration ${name}:`, left.lines)).toEqual([
    expect.stringMatching(
      new RegExp(
        `its Service ${own.name}/${name} does not exist, so pods start without ebb: .*, kubectl delete mutatingwebhookconfiguration ${name}$`,
      ),
    ),
  ]);
  const [binding = ""] = about(`ClusterRoleBinding ${name}:`, left.lines);
  const [, command = ""] = binding.split(", so it is left over: kubectl ");
  expect(await tryKubectl(command.split(" "))).toMatchObject({ code: 0, stderr: "" });
  await kubectl(["delete", "mutatingwebhookconfiguration", name]);
  expect(about(name, (await lines()).lines).filter((line) => line.includes("left over"))).toEqual([]);
}, 300_000);

test("an installation that does not start is named with the reason of the API server, then of the kubelet", async () => {
  await using installed = await installation(idle);
  const { here, name } = installed;
  const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "none" }, spec: { hard: { pods: "0" } } };
  await here.apply([quota]);
  await installed.kubectl("apply", "--server-side");
  const untilNamed = (why: string) =>
    here.until(why, async () => {
      const { lines: all } = await lines("--namespace", here.name);
      return about(`Configuration ${name}:`, all).some((line) => line.includes(`so pods start without ebb; ${why}`));
    });
  await untilNamed(`its pods are refused: pods "${name}-`);
  await here.kubectl("delete", "resourcequota/none");
  await untilNamed(`its pod ${name}-`);
  const [pod] = await here.pods("app.kubernetes.io/component=webhook");
  await untilNamed(`its pod ${pod?.metadata.name} cannot start: `);
}, 300_000);

test("a namespace that does not exist is exit code 64", async () => {
  const { code, stderr } = await ebb(["doctor", "--namespace", "nope"], { env });
  expect({ code, stderr }).toMatchObject({ code: 64, stderr: expect.stringContaining('there is no namespace "nope"') });
});

test("what may not be read is named, and is no finding", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "config");
  const config = JSON.parse(await kubectl(["config", "view", "--raw", "--minify", "-o", "json"]));
  config.users[0].user.as = "system:serviceaccount:default:default";
  writeFileSync(path, JSON.stringify(config));
  const { code, lines: all } = await lines("--kubeconfig", path);
  expect({ code, last: all.at(-1) }).toEqual({ code: 0, last: "0 pods, 0 with ebb: 0 findings" });
  const refused = all.slice(0, -1);
  for (const line of refused) expect(line).toMatch(/^not looked at: .*forbidden/);
  const kinds = ["mutatingwebhookconfigurations", "clusterrolebindings", "namespaces", "pods"];
  for (const kind of kinds) expect(refused.some((line) => line.includes(`cannot list resource "${kind}"`))).toBe(true);
});

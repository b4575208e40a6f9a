import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Ended, ebb, temporaryFolder } from "../../harness/ebb.ts";
import { images, type Namespace, namespace } from "../cluster.ts";
import { kubectl } from "../kubectl.ts";
import { podOf } from "../objects.ts";
import { type Installation, idle, inject, installation, startInstallation } from "./installation.ts";

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
  await using installed = await startInstallation();
  await using here = await installed.namespace();
  const only = ["--namespace", here.name];
  await makePod(here, "fine");
  const fine = await lines(...only);
  expect({ code: fine.code, last: fine.lines.at(-1) }).toEqual({ code: 0, last: "1 pod, 1 with ebb: 0 findings" });
  expect(about(`webhook ${installed.here.name}/${installed.name}`, fine.lines)).toEqual([
    expect.stringMatching(/: 2 of 2 replicas ready, image /),
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
  await changeArguments(installed, (args) => [...args, "--image=localhost/ebb:next", "--set=drain=40s"]);
  await own.kubectl("rollout", "status", `deployment/${name}`, "--timeout=240s");
  await own.until("only the next replicas are left", async () => (await own.pods()).length === 2);
  expect(about(`Pod ${here.name}/fine`, (await lines(...only)).lines)).toEqual([
    expect.stringMatching(
      new RegExp(
        `it has ebb from ${images.ebb}, and the webhook now injects localhost/ebb:next: create the pod again$`,
      ),
    ),
  ]);
  await changeArguments(installed, (args) => args.filter((arg) => arg !== "--image=localhost/ebb:next"));
  await own.kubectl("rollout", "status", `deployment/${name}`, "--timeout=240s");
  await own.until("only the next replicas are left", async () => (await own.pods()).length === 2);
  expect(about(`Pod ${here.name}/fine`, (await lines(...only)).lines)).toEqual([
    expect.stringContaining(": the webhook now sets another drain (--set): create the pod again"),
  ]);

  await own.kubectl("delete", `service/${name}`, "--wait=false");
  const left = await lines();
  expect(left.code).toBe(1);
  expect(about(`Configuration ${name}:`, left.lines)).toEqual([
    expect.stringMatching(
      new RegExp(
        `its Service ${own.name}/${name} does not exist, so pods start without ebb: .*, kubectl delete mutatingwebhookconfiguration ${name}$`,
      ),
    ),
  ]);
}, 300_000);

test("of an upgrade that is half done, the replicas that answer count, and why the next ones do not is told", async () => {
  await using installed = await startInstallation();
  await using here = await installed.namespace();
  const { here: own, name } = installed;
  await makePod(here, "fine");
  const told = async () => {
    const { code, lines: all } = await lines("--namespace", here.name);
    expect(about(`Pod ${here.name}/`, all)).toEqual([]); // a restart would change nothing
    expect(about(`webhook ${own.name}/${name}`, all)).toEqual([
      expect.stringContaining(`: 2 of 2 replicas ready, image ${images.ebb}`),
    ]);
    return { code, findings: about(own.name, all).filter((line) => !line.startsWith("webhook ")) };
  };
  const start = `Deployment ${own.name}/${name}: its rollout is not complete: 2 replicas ready, with image ${images.ebb}; its pod ${name}-`;
  const untilTold = (what: RegExp) =>
    own.until(String(what), async () => {
      const { code, findings } = await told();
      const [finding = "", ...more] = findings;
      return code === 1 && more.length === 0 && finding.startsWith(start) && what.test(finding.slice(start.length));
    });
  expect(await told()).toEqual({ code: 0, findings: [] });

  await own.kubectl("set", "image", `deployment/${name}`, "*=localhost/ebb:nosuch");
  await untilTold(
    /^\S+ \(image localhost\/ebb:nosuch\) cannot start: (ErrImagePull|ImagePullBackOff): .*; correct --image/,
  );
  await own.kubectl("rollout", "undo", `deployment/${name}`);
  await own.until("nothing is found", async () => (await told()).code === 0);

  await changeArguments(installed, (args) => [...args, "--set=drain=fourty"]);
  await untilTold(/^\S+ \(image \S+\) fails.*: exit code 64, Error: .*--set drain: .*fourty/);
  await own.kubectl("rollout", "undo", `deployment/${name}`);
  await own.until("nothing is found", async () => (await told()).code === 0);

  const secret = `${name}-certificates`;
  await own.kubectl("delete", `secret/${secret}`);
  expect(await told()).toEqual({
    code: 1,
    findings: [
      expect.stringContaining(
        `Secret ${own.name}/${secret}: it does not exist, and a replica of the webhook needs it to start`,
      ),
    ],
  });
  await installed.kubectl("apply", "--server-side");
  await own.until("nothing is found", async () => (await told()).code === 0);
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
  await untilNamed(`its pod ${pod?.metadata.name} (image localhost/none:1) cannot start: `);
}, 300_000);

test("a namespace that does not exist is exit code 64", async () => {
  const { code, stderr } = await ebb(["doctor", "--namespace", "nope"], { env });
  expect({ code, stderr }).toMatchObject({ code: 64, stderr: expect.stringContaining('there is no namespace "nope"') });
});

test("what may not be read is named; an account that may read nothing gets exit code 69", async () => {
  await using shop = await namespace();
  await makePod(shop, "asks");
  await shop.kubectl("create", "serviceaccount", "viewer");
  await shop.kubectl("create", "rolebinding", "viewer", "--clusterrole=view", `--serviceaccount=${shop.name}:viewer`);
  using folder = temporaryFolder();
  const path = join(folder.path, "config");
  const config = JSON.parse(await kubectl(["config", "view", "--raw", "--minify", "-o", "json"]));
  config.users[0].user.as = `system:serviceaccount:${shop.name}:viewer`;
  writeFileSync(path, JSON.stringify(config));
  const told = async (...words: readonly string[]) => {
    const { code, stdout, stderr } = await ebb(["doctor", "--kubeconfig", path, ...words], { env });
    const all = stdout.trimEnd().split("\n");
    const refused = all.filter((line) => /^not looked at: .*forbidden/.test(line));
    return { code, stderr, rest: all.filter((line) => !refused.includes(line)), refused };
  };
  const every = await told();
  expect(every).toMatchObject({
    code: 69,
    stderr: expect.stringContaining("this account may not read anything that ebb doctor looks at"),
    rest: ["no pod may be read: 0 findings in what may be read"],
  });
  const kinds = ["mutatingwebhookconfigurations", "deployments", "cronjobs", "namespaces", "pods", "events"];
  for (const kind of kinds)
    expect(every.refused.filter((line) => line.includes(`cannot list resource "${kind}"`))).toHaveLength(1);
  const some = await told("--namespace", shop.name);
  expect(some).toMatchObject({
    code: 1,
    stderr: "",
    rest: [
      expect.stringContaining(`Pod ${shop.name}/asks: it asks for ebb`),
      "1 pod, 0 with ebb: 1 finding in what may be read",
    ],
  });
  expect(some.refused).toHaveLength(3);
});

/** Replaces the arguments of the webhook's container. */
async function changeArguments(
  { here, name }: Installation,
  change: (args: readonly string[]) => readonly string[],
): Promise<void> {
  const path = "/spec/template/spec/containers/0/args";
  const args: string[] = JSON.parse(
    await here.kubectl("get", `deployment/${name}`, "-o", "jsonpath={.spec.template.spec.containers[0].args}"),
  );
  const patch = JSON.stringify([{ op: "replace", path, value: change(args) }]);
  await here.kubectl("patch", `deployment/${name}`, "--type=json", "-p", patch);
}

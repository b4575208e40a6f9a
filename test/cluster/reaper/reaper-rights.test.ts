import { expect, test } from "bun:test";
import { logOf } from "../../harness/ebb.ts";
import { type Namespace, namespace } from "../cluster.ts";
import type { KubeObject } from "../objects.ts";
import { type Installation, reapedBy, reaperInstallation } from "../webhook/installation.ts";
import { reaperEvents, standInPod, standIns } from "./reapers.ts";

// What the installed reaper does without a right of its account, on an API server that says who may what.

interface Role extends KubeObject {
  readonly rules: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
}

async function install(work: Namespace, more: object = {}): Promise<Installation> {
  const reaper = await reaperInstallation(() => ({
    reaper: { after: "1s", reapNamespace: [work.name], ...more },
  }));
  await restore(reaper);
  return reaper;
}

async function restore({ kubectl }: Installation): Promise<void> {
  const { code, stderr } = await kubectl("apply", "--server-side", "--force-conflicts");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
}

/** A role without one verb of one of its rules. */
async function takeAway(here: Namespace, role: Role, [at, verb]: readonly [number, string]): Promise<void> {
  const left = role.rules[at]?.verbs.filter((each) => each !== verb);
  const rules = role.rules.map((rule, index) => (index === at ? { ...rule, verbs: left } : rule));
  const patch = JSON.stringify([
    { op: "replace", path: "/rules", value: rules.filter(({ verbs = [] }) => verbs.length > 0) },
  ]);
  await here.kubectl("patch", "role", role.metadata.name, "--type=json", "-p", patch);
}

/** What its log says of its rights, each time that they change: those that are missing. */
async function missing({ here }: Installation): Promise<readonly (readonly string[])[]> {
  const [replica] = await here.pods("app.kubernetes.io/component=reaper");
  if (replica === undefined) return [];
  const log = logOf(await here.logs(replica.metadata.name, "reaper"));
  return log.flatMap(({ msg, rights }) => {
    if (msg === "ebb: all permissions are granted: continuing") return [[]];
    return msg === "ebb: the reaper's account lacks permissions" ? [rights as unknown as readonly string[]] : [];
  });
}

async function isReady({ here, name }: Installation): Promise<boolean> {
  const { status } = await here.object<KubeObject & { status: { readyReplicas?: number } }>(`deployment/${name}`);
  return status.readyReplicas === 1;
}

test.concurrent("each right that is missing at the start is named; nothing needs to be started again once it is there", async () => {
  await using work = await namespace();
  await using reaper = await install(work);
  await reaper.here.until("it is ready", () => isReady(reaper));
  const role = await work.object<Role>(`role/${reaper.name}`);
  const all = verbsOf(role);
  expect(all.length).toBeGreaterThan(9);
  for (const { verb, right } of all) {
    await takeAway(work, role, verb);
    await reaper.here.kubectl("delete", "pod", "-l", "app.kubernetes.io/component=reaper", "--wait");
    await reaper.here.until(`${right} is named alone`, () => isNamedAlone(reaper, right));
    await work.kubectl("patch", "role", reaper.name, "--type=json", "-p", rulesOf(role));
    await reaper.here.until("all are granted again", async () => (await missing(reaper)).at(-1)?.length === 0);
  }
  await reaper.here.until("it is ready again", () => isReady(reaper));
  const [replica] = await reaper.here.pods("app.kubernetes.io/component=reaper");
  expect(replica?.status.containerStatuses?.[0]?.restartCount).toBe(0);
});

test.concurrent("a right that goes while it runs is named by the 403, and the reaper is not ready until it is back", async () => {
  await using work = await namespace();
  await using reaper = await install(work);
  await reaper.here.until("it is ready", () => isReady(reaper));
  const role = await work.object<Role>(`role/${reaper.name}`);
  const all = verbsOf(role);
  const used = ["get namespaces"]; // every few seconds, also while no pod is stuck
  for (const { verb, right } of all.filter((each) => used.includes(each.right))) {
    await takeAway(work, role, verb);
    await reaper.here.until(`${right} is named alone`, () => isNamedAlone(reaper, right));
    await reaper.here.until("it is not ready", async () => !(await isReady(reaper)));
    await work.kubectl("patch", "role", reaper.name, "--type=json", "-p", rulesOf(role));
    await reaper.here.until("it is ready again", () => isReady(reaper));
  }
});

async function isNamedAlone(reaper: Installation, right: string): Promise<boolean> {
  const last = (await missing(reaper)).at(-1) ?? [];
  return last.length === 1 && last[0]?.startsWith(`${right} `) === true;
}

function rulesOf({ rules }: Role): string {
  return JSON.stringify([{ op: "replace", path: "/rules", value: rules }]);
}

function verbsOf({ rules }: Role) {
  return rules.flatMap(({ resources, verbs }, at) =>
    verbs.map((verb) => ({ verb: [at, verb] as const, right: `${verb} ${resources[0]}` })),
  );
}

test.concurrent("without the right to a port-forward nobody blames the sidecar; once it is there, the pod ends", async () => {
  await using work = await namespace();
  await using reaper = await install(work, { methods: ["port-forward"] });
  const role = await work.object<Role>(`role/${reaper.name}`);
  const at = role.rules.findIndex(({ resources }) => resources.includes("pods/portforward"));
  await takeAway(work, role, [at, "create"]);
  await work.apply([standIns, standInPod("stuck", { labels: reapedBy(reaper) })]);
  await reaper.here.until("it is named", async () =>
    (await missing(reaper)).at(-1)?.[0]?.startsWith("create pods/port"),
  );
  const told = await work.until("an Event on the pod", async () =>
    (await reaperEvents(work, "stuck")).find(({ reason }) => reason === "NotReaped"),
  );
  expect(told.note).toContain("nothing was done");
  expect(told.note).toContain("may not create pods/portforward");
  await restore(reaper);
  await work.until("the pod is over", async () => (await work.pod("stuck")).status.phase === "Succeeded");
  const reasons = (await reaperEvents(work, "stuck")).map(({ reason }) => reason);
  expect(reasons).not.toContain("SidecarDidNotExit");
});

test.concurrent("a binding that is gone for some seconds leaves no pod behind, and blames no sidecar", async () => {
  await using work = await namespace();
  await using reaper = await install(work);
  await reaper.here.until("it is ready", () => isReady(reaper));
  await work.kubectl("delete", "rolebinding", reaper.name);
  await work.apply([standIns, standInPod("stuck", { labels: reapedBy(reaper) })]);
  await reaper.here.until("it is refused", async () => {
    const [replica] = await reaper.here.pods("app.kubernetes.io/component=reaper");
    const text = replica === undefined ? "" : await reaper.here.logs(replica.metadata.name, "reaper");
    return text.includes("cannot end the sidecars now") || text.includes("lacks permissions");
  });
  await restore(reaper);
  await work.until("the pod is over", async () => (await work.pod("stuck")).status.phase === "Succeeded");
  const reasons = (await reaperEvents(work, "stuck")).map(({ reason }) => reason);
  expect(reasons).not.toContain("SidecarDidNotExit");
});

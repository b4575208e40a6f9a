import { describe, expect, test } from "bun:test";
import { request } from "../api.ts";
import { images, type Namespace, namespace } from "../cluster.ts";
import { envoySidecar } from "../envoy.ts";
import { exitCodeOf, hasCondition, jobOf, type KubeObject, statusOf } from "../objects.ts";
import { type Installation, idle, reapedBy, reaperInstallation, type Values } from "../webhook/installation.ts";
import { installed, withEbb } from "../webhook/installed.ts";

// What the chart prints of the reaper, in each of its variants: what it may do, and that it does what it is for.

const restricted = { "pod-security.kubernetes.io/enforce": "restricted" };

/** "WORK" is the namespace with the stuck Job. */
const watching: readonly [string, object, RegExp][] = [
  ["in the whole cluster, by exec", { allJobs: true, methods: ["exec"] }, /by exec in envoy: \/shared\/ebb \.\.\./],
  [
    "in one namespace, without exec",
    { reapNamespace: ["WORK"], methods: ["port-forward"] },
    /by POST \S+ through a port-forward/,
  ],
  [
    "in two namespaces, its own is one of them, by ephemeral containers alone",
    { reapNamespace: ["WORK", "OWN"], methods: ["ephemeral"] },
    /by ephemeral container: ebb quit /,
  ],
];

describe("a reaper that was installed", () => {
  test.concurrent.each(watching)("%s: ends the sidecar of a stuck Job", async (_, values, told) => {
    await using work = await namespace();
    await using reaper = await install(work, { after: "1s", ...values });
    const { here, name } = reaper;
    await here.until("it is ready", async () => {
      const { status } = await here.object<Status<{ readyReplicas?: number }>>(`deployment/${name}`);
      return status.readyReplicas === 1;
    });
    await stuckJob(work, reaper);
    await work.until("the Job is complete", async () => hasCondition(await work.job("work"), "Complete"));
    expect(await notesIn(work)).toContainEqual(expect.stringMatching(told));
  });

  test.concurrent("as a CronJob, it does once, and says so in a table", async () => {
    await using work = await namespace();
    // its next turn is far: the test gives it one
    await using reaper = await install(work, { schedule: "0 0 1 1 *", reapNamespace: ["WORK"], after: "1s" });
    const { here, name } = reaper;
    const pod = await stuckJob(work, reaper);
    await here.kubectl("create", "job", "now", `--from=cronjob/${name}`);
    await here.until("it has ended well", async () => hasCondition(await here.job("now"), "Complete"));
    await work.until("the Job is complete", async () => hasCondition(await work.job("work"), "Complete"));
    const [once] = await here.pods("batch.kubernetes.io/job-name=now");
    const table = await here.logs(once?.metadata.name ?? "", "reaper");
    expect(table).toMatch(new RegExp(`${work.name} +${pod} +.*ended`));
  });

  test.concurrent("with dryRun, it says what it would do, and does not", async () => {
    await using work = await namespace();
    await using reaper = await install(work, { dryRun: true, after: "1s" });
    const { here } = reaper;
    const pod = await stuckJob(work, reaper);
    await here.until("it says so", async () => {
      const [replica] = await here.pods("app.kubernetes.io/component=reaper");
      const log = await here.logs(replica?.metadata.name ?? "", "reaper");
      return log.split("\n").some((line) => line.includes("pod is stuck") && line.includes(pod));
    });
    expect(await notesIn(work)).toEqual([]);
    expect(statusOf(await work.pod(pod), "envoy")?.state.running).toBeDefined();
  });
});

const seen = "get,list,watch pods";
const events = "create events.events.k8s.io";
const exec = ["get,create pods/exec"];
const portForward = ["get,create pods/portforward"];
const ephemeral = ["patch pods/ephemeralcontainers"];
const all = [seen, ...exec, ...portForward, ...ephemeral, events];
const everywhere = ["list,watch namespaces"];
const ownLabel = ["get namespaces/ITSELF"];
const inWork = { reapNamespace: ["WORK"] };

describe("the reaper's account may do what it needs, and nothing else:", () => {
  test.concurrent.each<[object, own: string[], work: string[], elsewhere: string[]]>([
    [{}, [...all, ...everywhere], [...all, ...everywhere], [...all, ...everywhere]],
    [
      { methods: ["port-forward", "ephemeral"] },
      [seen, ...portForward, ...ephemeral, events, ...everywhere],
      [seen, ...portForward, ...ephemeral, events, ...everywhere],
      [seen, ...portForward, ...ephemeral, events, ...everywhere],
    ],
    [inWork, [], [...all, ...ownLabel], []],
    [{ ...inWork, methods: ["exec"] }, [], [seen, ...exec, events, ...ownLabel], []],
    [{ ...inWork, schedule: "@hourly" }, [], [...all, ...ownLabel], []],
    [{ ...inWork, dryRun: true }, [], [seen, ...ownLabel], []],
    [{ dryRun: true }, [seen, ...everywhere], [seen, ...everywhere], [seen, ...everywhere]],
  ])("%j", async (values, own, work, elsewhere) => {
    await using other = await namespace();
    await using reaper = await install(other, values, idle);
    const may = async (where: string) => (await rightsIn(where, reaper)).sort();
    expect({
      own: await may(reaper.here.name),
      work: await may(other.name),
      elsewhere: await may("default"),
    }).toEqual({ own: own.toSorted(), work: work.toSorted(), elsewhere: elsewhere.toSorted() });
  });
});

const verbs = ["get", "list", "watch", "create", "update", "patch", "delete", "*"];
const resources = [
  ...["pods", "pods/exec", "pods/portforward", "pods/ephemeralcontainers", "pods/attach", "pods/log", "pods/eviction"],
  ...["events", "events.events.k8s.io", "namespaces", "namespaces/ITSELF", "secrets", "serviceaccounts/token"],
  ...["jobs.batch", "leases.coordination.k8s.io", "*.*"],
];
const names = /^namespaces\//;

/** What its account may do with objects of this namespace; a right to an object by name where it has none to all of them. */
async function rightsIn(where: string, { here, name }: Installation): Promise<string[]> {
  const ask = async (verb: string, resource: string): Promise<boolean> => {
    const [kind = "", rest] = resource.split("/");
    const [plural, ...group] = kind.split(".");
    const part = names.test(resource) ? { name: rest?.replace("ITSELF", where) } : { subresource: rest };
    const { status, text } = await request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: {
        user: `system:serviceaccount:${here.name}:${name}`,
        groups: ["system:serviceaccounts", `system:serviceaccounts:${here.name}`],
        resourceAttributes: { verb, resource: plural, group: group.join("."), namespace: where, ...part },
      },
    });
    if (status !== 201) throw new Error(`SubjectAccessReview: ${status} ${text}`);
    return JSON.parse(text).status.allowed;
  };
  const rights = new Map<string, string[]>();
  for (const resource of resources) {
    const answers = await Promise.all(verbs.map((verb) => ask(verb, resource)));
    const ofAll = rights.get(names.test(resource) ? (resource.split("/")[0] ?? "") : "") ?? [];
    rights.set(
      resource,
      verbs.filter((verb, at) => answers[at] && !ofAll.includes(verb)),
    );
  }
  return [...rights].filter(([, may]) => may.length > 0).map(([resource, may]) => `${may.join(",")} ${resource}`);
}

type Status<T> = KubeObject & { readonly status: T };

/** Applied, and not complained about, where all is restricted. OWN and WORK in values are namespaces. */
async function install(work: Namespace, values: object, more: Values = {}): Promise<Installation> {
  const reaper = await reaperInstallation((own) => {
    const filled = JSON.stringify(values).replace("WORK", work.name).replace("OWN", own);
    return { ...more, reaper: JSON.parse(filled) };
  });
  const { code, stderr } = await reaper.kubectl("apply", "--server-side");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { metadata } = await reaper.here.object(`namespace/${reaper.here.name}`);
  expect(metadata.labels).toMatchObject(restricted);
  return reaper;
}

const { configMap, volume, container: envoy } = envoySidecar({ upstreamPort: 8081 });

/** A Job whose app has ended beside an Envoy. The name of its pod. */
async function stuckJob(work: Namespace, reaper: Installation): Promise<string> {
  const annotations = { "ebb.dev/reap": "true", "ebb.dev/reap-exec.envoy": JSON.stringify([installed.path, "quit"]) };
  const job = jobOf("work", {
    initContainers: [installed.container],
    containers: [{ name: "app", image: images.app, args: ["exit", "0"] }, withEbb(envoy)],
    volumes: [volume, installed.volume],
  });
  const { template } = job.spec as { template: { metadata: { labels: object } } };
  Object.assign(template.metadata, { annotations, labels: { ...template.metadata.labels, ...reapedBy(reaper) } });
  await work.apply([configMap, job]);
  const { name } = (await work.podOf("work")).metadata;
  await work.until("the app has ended", async () => exitCodeOf(await work.pod(name), "app") === 0);
  return name;
}

/** What the reaper's Events say. */
async function notesIn(work: Namespace): Promise<readonly string[]> {
  const { items } = await work.object<KubeObject & { items: { note?: string; reportingController?: string }[] }>(
    "events.events.k8s.io",
  );
  return items.flatMap(({ note = "", reportingController }) => (reportingController?.startsWith("ebb") ? [note] : []));
}

import { expect, test } from "bun:test";
import { injectPod } from "../../../src/cluster/inject/core/inject-pod.ts";
import { ebb } from "../../harness/ebb.ts";
import { podPath, refuse } from "../../stand-in/api-server/api-server.ts";
import { podIn, podOf, policy } from "../../unit/cluster/inject/core/injection.ts";
import { type Cluster, type Json, startCluster } from "./reaper.ts";

/** Starts a cluster that also lists what it does not have: `ebb doctor` reads many kinds. */
function startWhole(): Cluster {
  const cluster = startCluster();
  cluster.api.answer = (request, url) => {
    const isOther = /\/[a-z]+s$/.test(url.pathname) && !/\/(pods|namespaces|events)$/.test(url.pathname);
    return request.method === "GET" && isOther ? Response.json({ metadata: {}, items: [] }) : undefined;
  };
  return cluster;
}

function put(cluster: Cluster, name: string, owner: string, more: object): void {
  const pod: Json = podIn(injectPod(podOf(), policy));
  const ownerReferences = [{ kind: "ReplicaSet", name: owner, uid: owner }];
  cluster.put({ ...pod, metadata: { ...pod.metadata, name, namespace: "shop", ownerReferences }, ...more });
}

async function findings({ flags: [flag = "", path = ""] }: Cluster): Promise<{ code: unknown; lines: string[] }> {
  const { code, stdout } = await ebb(["doctor", flag, path]);
  return { code, lines: stdout.trimEnd().split("\n").slice(2) };
}

test("pods whose ebb-install cannot start are named once for each owner, with the kubelet's reason", async () => {
  await using cluster = startWhole();
  const waits = (reason: string, message: string) => ({
    status: {
      phase: "Pending",
      initContainerStatuses: [{ name: "ebb-install", state: { waiting: { reason, message } } }],
    },
  });
  put(cluster, "a-1", "a", waits("ErrImagePull", "not found"));
  put(cluster, "a-2", "a", waits("ImagePullBackOff", "Back-off pulling image"));
  put(
    cluster,
    "b-1",
    "b",
    waits("CreateContainerConfigError", "container has runAsNonRoot and image will run as root"),
  );
  put(cluster, "c-1", "c", { status: { phase: "Running" } });
  const start = "its init container ebb-install, which copies ebb, cannot start:";
  expect(await findings(cluster)).toEqual({
    code: 1,
    lines: [
      expect.stringContaining(`Pod shop/a-1: ${start} ErrImagePull: not found; correct --image`),
      expect.stringContaining(`Pod shop/b-1: ${start} CreateContainerConfigError: container has runAsNonRoot`),
      "4 pods, 4 with ebb: 2 findings",
    ],
  });
});

test("owners whose pods a quota or a limit range refuses are named if the pods are to have ebb", async () => {
  await using cluster = startWhole();
  const refused = (name: string, template: object, why: string): void => {
    const involvedObject = { kind: "Job", namespace: "shop", name, uid: name };
    const message = `Error creating: pods "${name}-x" is forbidden: ${why}`;
    const event = { metadata: { name }, reason: "FailedCreate", involvedObject, message };
    cluster.api.put(`/api/v1/namespaces/shop/events/${name}`, event);
    const job = { metadata: { name, uid: name }, spec: { template }, status: {} };
    cluster.api.put(`/apis/batch/v1/namespaces/shop/jobs/${name}`, job);
  };
  const quota = "exceeded quota: q";
  const limited = "minimum memory usage per Container is 32Mi, but request is 16Mi";
  const containers = [{ ...podOf().spec.containers[0], resources: { requests: { memory: "64Mi" } } }];
  refused("report", podOf(), quota);
  refused("other", { spec: podOf().spec }, quota);
  refused("sum", podIn(injectPod(podOf({ containers }), policy)), limited);
  refused("tax", podOf({ containers }), limited);
  const told = "its pods, which have or should have ebb, are refused:";
  expect(await findings(cluster)).toEqual({
    code: 1,
    lines: [
      `Job shop/report: ${told} ${quota}`,
      `Job shop/sum: ${told} ${limited} (container ebb-install)`,
      `Job shop/tax: ${told} ${limited} (no container of its template has that amount: it may be ebb-install, which the webhook adds)`,
      "0 pods, 0 with ebb: 3 findings",
    ],
  });
});

test("an installation that does not start is named with the kubelet's reason, and its pods are not counted", async () => {
  await using cluster = startWhole();
  const labels = { "app.kubernetes.io/name": "ebb", "app.kubernetes.io/component": "reaper" };
  const { answer } = cluster.api;
  const metadata = { namespace: "shop", name: "ebb-reaper", labels };
  const deployment = {
    metadata,
    spec: { replicas: 2, selector: { matchLabels: labels }, template: { spec: { containers: [] } } },
    status: {},
  };
  cluster.api.answer = (request, url) =>
    url.pathname === "/apis/apps/v1/deployments" && url.searchParams.has("labelSelector")
      ? Response.json({ metadata: {}, items: [deployment] })
      : answer?.(request, url);
  const waiting = { reason: "ImagePullBackOff", message: "Back-off pulling image" };
  const containers = [{ name: "reaper", command: ["/ebb", "reaper"] }];
  const status = { phase: "Pending", containerStatuses: [{ name: "reaper", state: { waiting } }] };
  cluster.put({ metadata: { namespace: "shop", name: "ebb-reaper-0", labels }, spec: { containers }, status });
  expect(await findings(cluster)).toEqual({
    code: 1,
    lines: [
      expect.stringMatching(
        /^Deployment shop\/ebb-reaper: no replica is ready, .*; its pod ebb-reaper-0 \(.*\) cannot start: ImagePullBackOff: Back-off/,
      ),
      "0 pods, 0 with ebb: 1 finding",
    ],
  });
});

/** Serves what `ebb manifests` prints, with a change of it, as if it were installed and ready. */
async function install(
  cluster: Cluster,
  component: "webhook" | "reaper",
  change: (object: Json) => Json | undefined = () => undefined,
): Promise<void> {
  const { stdout } = await ebb(["manifests", component, "--image", policy.image]);
  const objects = (Bun.YAML.parse(stdout) as Json[]).flatMap((each) => (each === null ? [] : (change(each) ?? each)));
  const ofKind = (kind: string) => objects.filter((each) => `/${each.kind.toLowerCase()}s` === kind);
  for (const each of ofKind("/deployments")) putReady(cluster, each);
  for (const each of ofKind("/mutatingwebhookconfigurations")) {
    for (const { clientConfig } of each.webhooks) clientConfig.caBundle = "eA==";
  }
  const { answer } = cluster.api;
  cluster.api.answer = (request, url) => {
    const [, one, many] = /(\/(?:services|secrets))\/[^/]+$|(\/[a-z]+)$/.exec(url.pathname) ?? [];
    if (one !== undefined) return Response.json(ofKind(one)[0]);
    const items = many === undefined || many === "/namespaces" ? [] : ofKind(many);
    return items.length > 0 ? Response.json({ metadata: {}, items }) : answer?.(request, url);
  };
}

/** The webhook as the chart installs it with `webhook.all`. */
function withAll({ kind, spec, webhooks }: Json): undefined {
  if (kind === "Deployment") spec.template.spec.containers[0].args.push("--all");
  if (kind !== "MutatingWebhookConfiguration") return;
  const [, ofNamespaces] = webhooks.splice(0, 2);
  ofNamespaces.namespaceSelector.matchExpressions[1] = { key: "ebb.dev/inject", operator: "NotIn", values: ["false"] };
  webhooks.push(ofNamespaces);
}

/** The webhook as the chart installs it with these `selector` and `webhook.namespaceSelector`. */
function withSelectors(values: readonly string[], team: string) {
  return ({ webhooks = [] }: Json): undefined => {
    for (const webhook of webhooks) {
      webhook.objectSelector = { matchExpressions: [{ key: "app", operator: "In", values }] };
      webhook.namespaceSelector.matchExpressions.push({ key: "team", operator: "In", values: [team] });
    }
  };
}

/** The reaper as the chart installs it with `reaper.schedule`. */
function asCronJob(suspend: boolean) {
  return ({ kind, metadata, spec }: Json): Json | undefined => {
    if (kind !== "Deployment") return undefined;
    const jobTemplate = { spec: { template: spec.template } };
    return {
      apiVersion: "batch/v1",
      kind: "CronJob",
      metadata,
      spec: { schedule: "*/5 * * * *", suspend, jobTemplate },
    };
  };
}

/** Makes all replicas of a Deployment ready, and adds one of them. */
function putReady({ api }: Cluster, deployment: Json): void {
  const { metadata, spec } = deployment;
  deployment.status = { readyReplicas: spec.replicas, updatedReplicas: spec.replicas };
  const own = { ...spec.template.metadata, namespace: metadata.namespace, name: `${metadata.name}-0` };
  const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
  api.put(podPath(own.namespace, own.name), { metadata: own, spec: spec.template.spec, status });
}

/** Adds a namespace, and pods without ebb in it; each has its name as its label `app`. */
function populate(cluster: Cluster, namespace: string, labels: object, ...names: readonly string[]): void {
  const own = { "kubernetes.io/metadata.name": namespace, ...labels };
  cluster.api.put(`/api/v1/namespaces/${namespace}`, { metadata: { name: namespace, labels: own } });
  for (const name of names) {
    const annotations = name === "asks" ? { "ebb.dev/inject": "true" } : {};
    const metadata = { name, namespace, labels: { app: name }, annotations };
    cluster.api.put(podPath(namespace, name), { ...podOf(), metadata, status: { phase: "Running" } });
  }
}

test("pods that the registration's selectors leave out are no findings, unless they ask by annotation", async () => {
  const outside = 'it asks for ebb (its annotation ebb.dev/inject: "true") and has none: no selector of the webhook';
  await using all = startWhole();
  await install(all, "webhook", withAll);
  populate(all, "kube-system", {}, "coredns", "asks");
  populate(all, "ebb-webhook", {}, "other");
  populate(all, "shop", {}, "web");
  expect((await findings(all)).lines).toEqual([
    expect.stringContaining(`Pod kube-system/asks: ${outside}`),
    expect.stringContaining("Pod shop/web: it should have ebb (the webhook's --all) and has none: no webhook answered"),
    "4 pods, 0 with ebb: 2 findings",
  ]);

  await using some = startWhole();
  await install(some, "webhook", withSelectors(["web", "asks"], "a"));
  populate(some, "shop", { team: "a", "ebb.dev/inject": "true" }, "web", "other");
  populate(some, "bank", { team: "b" }, "web", "asks");
  populate(some, "mail", { team: "a" }, "web", "asks");
  expect((await findings(some)).lines).toEqual([
    expect.stringContaining("Pod shop/web: it should have ebb"),
    expect.stringContaining(`Pod bank/asks: ${outside}`),
    expect.stringMatching(/^Pod mail\/asks: it asks for ebb .* no webhook answered/),
    "6 pods, 0 with ebb: 3 findings",
  ]);
});

test("a namespace whose label asks, and that no namespaceSelector covers, is named", async () => {
  await using cluster = startWhole();
  await install(cluster, "webhook", withSelectors(["web"], "a"));
  populate(cluster, "bank", { team: "b", "ebb.dev/inject": "true" }, "web");
  populate(cluster, "shop", { team: "a", "ebb.dev/inject": "true" }, "other");
  expect((await findings(cluster)).lines).toEqual([
    expect.stringContaining(
      "Namespace bank: its label ebb.dev/inject=true asks for ebb, and no selector of the webhook",
    ),
    "2 pods, 0 with ebb: 1 finding",
  ]);
});

test("a reaper that is a CronJob is known, and named if it is suspended", async () => {
  await using cluster = startWhole();
  await install(cluster, "reaper", asCronJob(false));
  const [flag = "", path = ""] = cluster.flags;
  const told = async () => (await ebb(["doctor", flag, path])).stdout.trimEnd().split("\n");
  const installed = [
    `reaper ebb-reaper/ebb-reaper: CronJob, schedule */5 * * * *, image ${policy.image}`,
    "webhook: not installed",
  ];
  expect(await told()).toEqual([...installed, "0 pods, 0 with ebb: 0 findings"]);

  await install(cluster, "reaper", asCronJob(true));
  const resume = `kubectl -n ebb-reaper patch cronjob/ebb-reaper -p '{"spec":{"suspend":false}}'`;
  expect(await told()).toEqual([
    ...installed,
    `CronJob ebb-reaper/ebb-reaper: the reaper ends no sidecar: it is suspended: ${resume}`,
    "0 pods, 0 with ebb: 1 finding",
  ]);
});

test("a Secret that is gone is named", async () => {
  await using cluster = startWhole();
  await install(cluster, "webhook");
  expect(await findings(cluster)).toEqual({ code: 0, lines: ["0 pods, 0 with ebb: 0 findings"] });
  const { answer } = cluster.api;
  cluster.api.answer = (request, url) =>
    url.pathname.includes("/secrets/") ? refuse(404, "not found") : answer?.(request, url);
  expect(await findings(cluster)).toEqual({
    code: 1,
    lines: [
      expect.stringMatching(
        /^Secret ebb-webhook\/ebb-webhook-certificates: it does not exist, and a replica .* needs it/,
      ),
      "0 pods, 0 with ebb: 1 finding",
    ],
  });
});

test("doctor names what it may not read, and ends with 69 if that is all", async () => {
  await using cluster = startWhole();
  await install(cluster, "webhook");
  populate(cluster, "shop", {}, "web");
  const { answer } = cluster.api;
  let mayRead = (path: string): boolean => path.includes("/shop");
  cluster.api.answer = (request, url) =>
    mayRead(url.pathname) ? answer?.(request, url) : refuse(403, `${url.pathname} is forbidden`);
  const told = async (...words: string[]) => {
    const { code, stdout, stderr } = await ebb(["doctor", ...cluster.flags.slice(0, 2), ...words]);
    return { code, stderr, lines: stdout.trimEnd().split("\n") };
  };
  const installation = ["/apis/apps/v1/deployments", "mutatingwebhookconfigurations", "/apis/batch/v1/cronjobs"];
  const refused = (...paths: string[]) =>
    paths.map((path) => expect.stringMatching(new RegExp(`^not looked at: .*${path} is forbidden$`)));
  expect(await told("--namespace", "shop")).toEqual({
    code: 0,
    stderr: "",
    lines: [...refused(...installation), "1 pod, 0 with ebb: 0 findings in what may be read"],
  });
  const pods = refused("/api/v1/namespaces", ...installation.slice(2), "/api/v1/pods", "/api/v1/events");
  const all = await told();
  expect(all).toEqual({
    code: 69,
    stderr: expect.stringContaining("this account may not read anything that ebb doctor looks at: name a namespace"),
    lines: [...refused(...installation.slice(0, 2)), ...pods, "no pod may be read: 0 findings in what may be read"],
  });
  const json = JSON.parse((await told("--json")).lines.join("\n"));
  expect(json).toEqual({ findings: [], notes: [], refusals: expect.any(Array) });

  mayRead = (path) => !path.includes("/secrets/");
  const { code, lines } = await told();
  expect([code, ...lines.slice(2)]).toEqual([
    0,
    ...refused("/secrets/ebb-webhook-certificates"),
    "1 pod, 0 with ebb: 0 findings in what may be read",
  ]);
});

/** Serves these nodes. */
function putNodes({ api }: Cluster, ...all: readonly (readonly [kubeletVersion: string, runtime: string])[]): void {
  const items = all.map(([kubeletVersion, containerRuntimeVersion], at) => ({
    metadata: { name: `node-${at}` },
    status: { nodeInfo: { kubeletVersion, containerRuntimeVersion } },
  }));
  const { answer } = api;
  api.answer = (request, url) =>
    url.pathname === "/api/v1/nodes" ? Response.json({ metadata: {}, items }) : answer?.(request, url);
}

test("what --volume image would save is a note if all nodes can mount images, and no finding", async () => {
  await using cluster = startWhole();
  await install(cluster, "webhook");
  putNodes(cluster, ["v1.35.0", "containerd://2.1.0"], ["v1.35.0", "cri-o://1.35.0"]);
  expect(await findings(cluster)).toEqual({
    code: 0,
    lines: [
      expect.stringMatching(/^note: all nodes can mount ebb's image: with --volume image .* 99 MB less /),
      "0 pods, 0 with ebb: 0 findings",
    ],
  });
});

test("a node that cannot mount images is a finding if the webhook has --volume image", async () => {
  await using cluster = startWhole();
  await install(cluster, "webhook", ({ kind, spec }) => {
    if (kind === "Deployment") spec.template.spec.containers[0].args.push("--volume=image");
  });
  putNodes(cluster, ["v1.35.0", "containerd://2.1.0"], ["v1.34.0", "cri-o://1.34.0"]);
  expect(await findings(cluster)).toEqual({
    code: 1,
    lines: [
      expect.stringMatching(
        /^Node node-1: it cannot mount ebb's image, .*: kubelet v1\.34\.0 and cri-o:\/\/1\.34\.0, but/,
      ),
      "0 pods, 0 with ebb: 1 finding",
    ],
  });
});

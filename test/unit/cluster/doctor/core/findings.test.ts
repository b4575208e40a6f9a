import { describe, expect, test } from "bun:test";
import type { PodSpec, Texts } from "../../../../../src/cluster/api/core/objects.ts";
import { initFinding } from "../../../../../src/cluster/doctor/core/init.ts";
import type { Webhooks } from "../../../../../src/cluster/doctor/core/installation.ts";
import { namespaceFinding } from "../../../../../src/cluster/doctor/core/namespaces.ts";
import { podFinding, unwrappedFindings } from "../../../../../src/cluster/doctor/core/pods.ts";
import {
  lacksPods,
  refusalFinding,
  refusedContainer,
  wantsEbb,
} from "../../../../../src/cluster/doctor/core/refusals.ts";
import { injectPod } from "../../../../../src/cluster/inject/core/inject-pod.ts";
import { presenceOf } from "../../../../../src/cluster/inject/core/presence.ts";
import { app, type Loose, podIn, podOf, policy } from "../../inject/core/injection.ts";
import { unknownImage } from "../../inject/core/registry.ts";

/** A webhook whose replicas inject from these images. */
const injecting = (...images: readonly string[]) => ({ injected: images.map((image) => ({ image, options: {} })) });
const webhooks: Webhooks = {
  count: 1,
  answering: 1,
  ...injecting(policy.image),
  volumes: ["emptyDir"],
  selections: [{ all: false }],
};
/** A webhook with --all. */
const all = { selections: [{ all: true }] };
const labelled = (label: string | undefined) => (label === undefined ? {} : { "ebb.dev/inject": label });

/** A pod as the API server has it. */
function stored(pod: Loose, owner?: string): Loose {
  const ownerReferences = owner === undefined ? undefined : [{ kind: owner, name: "web" }];
  return { ...pod, metadata: { ...pod.metadata, name: "a", namespace: "shop", ownerReferences } };
}

const bare = { metadata: {}, spec: { containers: [app()] } };
const injected = (changes: Partial<typeof policy> = {}) => podIn(injectPod(podOf(), { ...policy, ...changes }));

test.each<["emptyDir" | "image"]>([["emptyDir"], ["image"]])("the image of ebb is known: --volume %s", (volume) => {
  expect(presenceOf(injected({ volume }))).toEqual({ kind: "present", image: policy.image });
  expect(presenceOf(podOf())).toEqual({ kind: "absent", isAsked: true });
});

test("the image of ebb is the one that was injected, also where another webhook has moved it to a mirror", () => {
  const pod = injected();
  pod.spec.initContainers[0].image = "mirror.example.com/ebb:1";
  expect(presenceOf(pod)).toEqual({ kind: "present", image: policy.image });
});

/** As the webhook leaves a pod that it cannot change. */
const skipped: Loose = { ...bare, metadata: { annotations: { "ebb.dev/status": '{"skipped":"WHY"}' } } };

test("a pod that the webhook left as it is has no ebb, unless its image starts one", () => {
  expect(presenceOf(skipped)).toEqual({ kind: "absent", isAsked: false, skipped: "WHY" });
  const own: Loose = { ...skipped, spec: { containers: [{ name: "a", command: ["/ebb", "run"] }] } };
  expect(presenceOf(own)).toEqual({ kind: "present", image: undefined });
});

const server = { ...bare, spec: { containers: [{ name: "a" }] } };
const job = { ...bare, spec: { containers: [{ name: "a" }], restartPolicy: "Never" } };
const mountInTheWay = {
  ...bare,
  spec: { containers: [app({ volumeMounts: [{ name: "x", mountPath: "/ebb.dev" }] })] },
};

/** From `ebb inject --all`. */
const unasked = podIn(injectPod(bare, { ...policy, all: true, image: "ebb:0" }));

describe("a pod", () => {
  test.each<[string, Loose, string | undefined, Partial<Webhooks>, RegExp | undefined]>([
    ["that asks and has ebb", injected(), undefined, {}, undefined],
    ["that does not ask", bare, undefined, {}, undefined],
    ["that asks and has none", podOf(), undefined, {}, /^it asks for ebb \(its annotation .*no webhook answered/],
    [
      "where no webhook is there",
      podOf(),
      undefined,
      { answering: 0 },
      /none: no webhook is installed.*, then delete the pod/,
    ],
    ["whose namespace asks", bare, "true", {}, /\(the label ebb\.dev\/inject=true of its namespace\)/],
    ["that --all takes", bare, undefined, all, /\(the webhook's --all\)/],
    ["that says no", podOf({ annotations: { "ebb.dev/inject": "false" } }), "true", all, undefined],
    ["whose namespace says no", podOf(), "false", {}, undefined],
    ["older than its namespace's label", bare, "true", {}, /or the pod is older than that: /],
    [
      "that cannot have it, and its namespace asks",
      mountInTheWay,
      "true",
      {},
      /^it should have ebb .* none: spec\.containers\[0\]\.volumeMounts.*: mount this elsewhere; after that: delete/,
    ],
    ["that cannot have it, and only --all takes", mountInTheWay, undefined, all, undefined],
    ["whose command is not known, and its namespace asks", server, "true", {}, /no webhook answered when/],
    ["that ends, whose command is not known", job, "true", {}, /no webhook answered when/],
    ["that ends, whose command is not known, and only --all takes", job, undefined, all, undefined],
    [
      "that the webhook left as it is, and its namespace asks",
      skipped,
      "true",
      {},
      /^it should have ebb .* none: the webhook left it as it is: WHY; after that: delete the pod/,
    ],
    ["that the webhook left as it is, and --all takes", skipped, undefined, all, /left it as it is: WHY/],
    ["that the webhook left as it is, and nothing selects now", skipped, undefined, {}, undefined],
    [
      "whose option cannot be read",
      podOf({ annotations: { "ebb.dev/drain": "5x" } }),
      "true",
      {},
      /annotations\[ebb\.dev\/drain\]: .*5x/,
    ],
    ["that asks and cannot have it", podOf({ containers: [{ name: "a" }] }), undefined, {}, /it asks for ebb/],
    [
      "with ebb from elsewhere",
      injected({ image: "ebb:0" }),
      undefined,
      {},
      /from ebb:0, .* now injects registry.*pod/,
    ],
    [
      "with ebb from its manifest alone",
      unasked,
      undefined,
      {},
      /its manifest has that ebb, so a restart does not help/,
    ],
    [
      "whose own image starts ebb",
      podOf({ containers: [{ name: "a", command: ["/ebb", "run"] }] }),
      "true",
      {},
      undefined,
    ],
    ["with ebb from either", injected(), undefined, injecting("ebb:2", policy.image), undefined],
    ["where it is not known what is given", injected(), undefined, injecting(), undefined],
  ])("%s", (_, pod, label, changes, message) => {
    const finding = podFinding(stored(pod, "ReplicaSet"), labelled(label), { ...webhooks, ...changes });
    if (message === undefined) expect(finding).toBeUndefined();
    else expect(finding).toEqual({ object: "Pod shop/a", message: expect.stringMatching(message) });
  });

  test("with options that an older replica set, as its status records", () => {
    const told = (pod: Loose, ...sets: Record<string, string>[]) => {
      const injected = sets.map((options) => ({ image: policy.image, options }));
      return podFinding(stored(pod, "DaemonSet"), undefined, { ...webhooks, injected })?.message;
    };
    const pod = injected({ options: new Map([["drain", "20s"]]) });
    expect(told(pod, { drain: "20s" })).toBeUndefined();
    expect(told(pod, {})).toBeUndefined(); // the manifest's, as far as is known
    expect(told(pod, { drain: "40s", grace: "5s" })).toBe(
      "the webhook now sets another drain and grace (--set): delete the pod, and its DaemonSet creates it again",
    );
    expect(told(pod, { drain: "40s" }, { drain: "20s" })).toBeUndefined(); // a rollout
    const ofManifest = podIn(injectPod(bare, { ...policy, all: true }));
    expect(told(ofManifest, { drain: "40s" })).toBeUndefined();
  });

  test("is made again by its owner, or by whoever made it", () => {
    const told = (owner?: string) => podFinding(stored(podOf(), owner), undefined, webhooks)?.message;
    expect(told("Job")).toEndWith(": a new Job gets it: delete this one, and create it again");
    expect(told("DaemonSet")).toEndWith(": delete the pod, and its DaemonSet creates it again");
    expect(told()).toEndWith(": create the pod again");
    const ofJob = (name: string) => {
      const pod = stored(podOf(), "Job");
      pod.metadata.ownerReferences[0].name = name;
      return podFinding(pod, undefined, webhooks)?.message;
    };
    expect(ofJob("nightly-report-29600040")).toEndWith(": the next run of its CronJob nightly-report gets it");
    expect(ofJob("migrate-20261125")).toEndWith(": a new Job gets it: delete this one, and create it again");
    const ofDeployment = stored(podOf(), "ReplicaSet");
    ofDeployment.metadata.ownerReferences[0].name = "web-7c9f";
    ofDeployment.metadata.labels = { "pod-template-hash": "7c9f" };
    expect(podFinding(ofDeployment, undefined, webhooks)?.message).toEndWith(
      ": kubectl -n shop rollout restart deployment/web",
    );
  });
});

describe("a container of an injected pod whose command was not known", () => {
  const found = (annotations: Record<string, string>, ...containers: readonly object[]) => {
    const pod = podIn(injectPod(podOf({ containers, annotations }), { ...policy, ...unknownImage }));
    return unwrappedFindings(stored(pod, "StatefulSet"));
  };
  const unnamed = { name: "queue", image: "queue:3" };
  const after =
    "; ebb.dev/entrypoint.queue can give it; after that: delete the pod, and its StatefulSet creates it again";

  test.each<[string, Record<string, string>, string]>([
    ["only drains", {}, "drains, and does not wait for the sidecars"],
    ["starts without ebb", { "ebb.dev/drain": "0" }, "starts without ebb"],
  ])("%s", (_, annotations, does) => {
    const message = `its container "queue" ${does}, because its command was not known: WHY${after}`;
    expect(found(annotations, unnamed, app())).toEqual([{ object: "Pod shop/a", message }]);
  });

  test("keeps it if that must be PID 1: no annotation is named", () => {
    const message =
      'its container "queue" drains, and does not wait for the sidecars: /init must be PID 1, which ebb run would be: ebb help apps';
    expect(found({}, { ...unnamed, command: ["/init"] }, app())).toEqual([{ object: "Pod shop/a", message }]);
  });

  test("ends a pod with it only by others: that is said", () => {
    const given = { containers: [unnamed, app()], spec: { restartPolicy: "Never" } };
    const pod = podIn(injectPod(podOf(given), { ...policy, ...unknownImage }));
    const [{ message } = { message: "" }, ...more] = unwrappedFindings(stored(pod));
    expect(message).toContain(
      "not known: WHY; no ebb in this pod shuts down the sidecars: unless they are native, only ebb reaper ends the pod; ",
    );
    expect(more).toEqual([]);
  });

  test("is no finding where its orchestrator needs it so", () => {
    const pod = podOf({ containers: [{ name: "job" }, app()], annotations: { "ebb.dev/apps": "app" } });
    pod.metadata.labels = { "runner-pod": "x" };
    pod.spec.restartPolicy = "Never";
    const changed = podIn(injectPod(pod, policy));
    expect(changed.metadata.annotations["ebb.dev/status"]).toContain('"unwrapped"');
    expect(unwrappedFindings(stored(changed))).toEqual([]);
  });

  test("and no other", () => {
    expect(found({}, app(), { name: "envoy" })).toEqual([]);
    expect([podOf(), stored(skipped)].flatMap(unwrappedFindings)).toEqual([]);
    const pod = podIn(injectPod(podOf({ containers: [unnamed] }), { ...policy, ...unknownImage }));
    expect(podFinding(stored(pod), labelled("true"), webhooks)).toBeUndefined();
  });
});

const ask = "ebb.dev/inject";
const none = { count: 0, selections: [] };
const ofTeam = { count: 1, selections: [{ namespaceSelector: { matchLabels: { team: "a" } }, all: false }] };

test.each<[string, Record<string, string>, Pick<Webhooks, "count" | "selections">, RegExp | undefined]>([
  ["that says nothing", {}, none, undefined],
  ["that asks for what is there", { [ask]: "true" }, webhooks, undefined],
  ["that asks where it is not known what is there", { [ask]: "true" }, { ...none, count: undefined }, undefined],
  ["that says no", { [ask]: "false" }, none, undefined],
  ["that says neither", { [ask]: "yes" }, webhooks, /inject does nothing: expected true or false, got "yes"$/],
  [
    "that no webhook hears",
    { [ask]: "true" },
    none,
    /no webhook is registered: .*label namespace shop ebb.dev\/inject-$/,
  ],
  ["that no selector covers", { [ask]: "true" }, ofTeam, /asks for ebb, and no selector of the webhook covers it/],
])("a namespace %s", (_, labels, installed, message) => {
  const finding = namespaceFinding("shop", labels, installed);
  if (message === undefined) expect(finding).toBeUndefined();
  else expect(finding).toEqual({ object: "Namespace shop", message: expect.stringMatching(message) });
});

const web = { metadata: { name: "web", namespace: "shop", uid: "u" } };

test("an owner whose pods the webhook refuses", () => {
  const involvedObject = { kind: "Job", namespace: "shop", name: "report", uid: "u" };
  const said =
    'Error creating: admission webhook "ebb-webhook.inject.ebb.dev" denied the request: ebb cannot be put into this pod: a: b';
  expect(refusalFinding({ metadata: { name: "e" }, involvedObject, message: said })).toEqual({
    ...involvedObject,
    by: "webhook",
    object: "Job shop/report",
    message: "the webhook refuses its pods: a: b",
  });
  expect(refusalFinding({ metadata: { name: "e" }, involvedObject, message: "exceeded quota" })).toBeUndefined();
});

test.each([
  ["failed quota: q: must specify limits.cpu for: ebb-install; requests.cpu for: ebb-install", "ebb-install"],
  ["minimum memory usage per Container is 64Mi, but request is 16Mi", "rule"],
  ["exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2", "rule"],
])("an owner whose pods a quota or a limit range refuses: %s", (why, by) => {
  const involvedObject = { kind: "ReplicaSet", namespace: "shop", name: "web-7c9f", uid: "u" };
  const message = `Error creating: pods "web-7c9f-x" is forbidden: ${why}`;
  const told = `its pods, which have or should have ebb, are refused: ${why}`;
  expect(refusalFinding({ metadata: { name: "e" }, involvedObject, message })).toMatchObject({ by, message: told });
});

const usage = (how: string, name: string, bound: string, but: string) =>
  `${how}imum ${name} usage per Container is ${bound}, but ${but}`;
const tooMuch = usage("max", "memory", "100Mi", "limit is 128Mi");
const tooLittle = usage("min", "cpu", "200m", "request is 100m");

test.each([
  [tooMuch, " (container ebb-install)"],
  [`[${tooLittle}, ${tooMuch}]`, " (container ebb-install, app)"],
  [usage("min", "memory", "1Gi", "request is 64Mi"), " (container app)"],
  [
    `[cpu max limit to request ratio per Container is 4, but provided ratio is 10.000000, ${tooMuch}]`,
    " (container ebb-install)",
  ],
  ["memory max limit to request ratio per Container is 2, but provided ratio is 2.666667", " (container envoy)"],
  [usage("max", "memory", "512Mi", "limit is 1Gi"), ""],
  [usage("max", "ephemeral-storage", "1Gi", "limit is much"), ""],
  ["exceeded quota: q, requested: limits.memory=128Mi, used: limits.memory=0, limited: limits.memory=100Mi", ""],
])("which container a limit range refuses: %s", (why, which) => {
  const of = (name: string, requests: Texts, limits: Texts) => ({ name, resources: { requests, limits } });
  const initContainers = [of("ebb-install", { cpu: "0.1", memory: "16Mi" }, { cpu: "1", memory: "128Mi" })];
  const containers = [
    of("app", { cpu: "100m" }, { cpu: "100m", memory: "64Mi" }),
    of("envoy", { memory: "36Mi" }, { memory: "96Mi" }),
  ];
  const owner = (spec: PodSpec) => ({ ...web, spec: { template: { spec } } });
  expect(refusedContainer(`refused: ${why}`, owner({ initContainers, containers }))).toBe(which);
  if (which !== " (container ebb-install)") return;
  const ofWebhook = " (no container of its template has that amount: it may be ebb-install, which the webhook adds)";
  expect(refusedContainer(`refused: ${why}`, owner({ containers }))).toBe(ofWebhook);
});

test.each<[string, Loose, string | undefined, boolean, boolean]>([
  ["with ebb in its template", injected(), undefined, false, true],
  ["whose template asks", podOf(), undefined, false, true],
  ["whose namespace asks", bare, "true", false, true],
  ["whose namespace says no", podOf(), "false", true, false],
  ["that the webhook takes with all others", bare, undefined, true, true],
  ["that nothing selects", bare, undefined, false, false],
])("whether an owner's pods are to have ebb: one %s", (_, template, label, all, wants) => {
  expect(wantsEbb({ ...web, spec: { template } }, labelled(label), [{ all }])).toBe(wants);
});

describe("the init container that copies ebb", () => {
  const withStatus = (state: object, lastState = {}, name = "ebb-install") => ({
    ...stored(injected()),
    status: { initContainerStatuses: [{ name, restartCount: 0, state, lastState }] },
  });
  const waiting = (reason: string, message?: string) => ({ waiting: { reason, message } });
  const noUser = 'container has runAsNonRoot and image will run as root (pod: "a_shop(0f3c)", container: ebb-install)';
  const user =
    "; its image needs a USER that is a number other than 0, as Dockerfile.distroless sets it, or the pod needs a securityContext.runAsUser";
  const image = "; correct --image of the webhook or of ebb inject, or give the pod its imagePullSecrets";

  test.each<[string, object, object, string | undefined]>([
    ["runs", { running: {} }, {}, undefined],
    ["has ended", { terminated: { exitCode: 0, reason: "Completed" } }, {}, undefined],
    ["waits for its turn", waiting("PodInitializing"), {}, undefined],
    ["is being created", waiting("ContainerCreating"), {}, undefined],
    [
      "has no user",
      waiting("CreateContainerConfigError", noUser),
      {},
      `cannot start: CreateContainerConfigError: container has runAsNonRoot and image will run as root${user}`,
    ],
    [
      "has no image",
      waiting("ImagePullBackOff", 'Back-off pulling image "ebb:9"'),
      {},
      `cannot start: ImagePullBackOff: Back-off pulling image "ebb:9"${image}`,
    ],
    ["has no name of an image", waiting("InvalidImageName"), {}, `cannot start: InvalidImageName${image}`],
    [
      "fails again and again",
      waiting("CrashLoopBackOff", "back-off 10s restarting failed container=ebb-install pod=a_shop(0f3c)"),
      { terminated: { exitCode: 71, reason: "Error", message: "no space left on device\n" } },
      "fails: exit code 71, Error: no space left on device",
    ],
    ["has failed", { terminated: { exitCode: 137, reason: "OOMKilled" } }, {}, "fails: exit code 137, OOMKilled"],
  ])("%s", (_, state, last, message) => {
    const found = initFinding(withStatus(state, last));
    if (message === undefined) expect(found).toBeUndefined();
    else
      expect(found).toEqual({
        object: "Pod shop/a",
        message: `its init container ebb-install, which copies ebb, ${message}`,
      });
  });

  test("or the image that is ebb's volume cannot be pulled", () => {
    const pod = { ...stored(injected({ volume: "image" })), status: {} as Loose };
    const waits = (message: string) => {
      pod.status = { containerStatuses: [{ name: "app", state: waiting("ErrImagePull", message) }] };
      return initFinding(pod)?.message;
    };
    const said = `pull ${policy.image}: not found`;
    const start = "its container app cannot start, because ebb's volume is an image";
    expect(waits(said)).toBe(`${start}: ErrImagePull: ${said}${image}`);
    expect(waits("pull registry.example.com/app:1: not found")).toBeUndefined();
  });

  test("is known by its command: one of a manifest's own is named, another program's is not", () => {
    const own = withStatus(waiting("ErrImagePull"), {}, "install-ebb");
    own.spec.initContainers = [{ name: "install-ebb", command: ["/ebb", "install", "/shared/ebb"] }];
    expect(initFinding(own)?.message).toStartWith("its init container install-ebb, which copies ebb, cannot start");
    own.spec.initContainers[0].command = ["/migrate"];
    expect(initFinding(own)).toBeUndefined();
  });
});

test.each<[string, Loose, boolean]>([
  ["a Job without a pod", { spec: {}, status: {} }, true],
  ["a Job that runs", { spec: {}, status: { active: 1 } }, false],
  ["a Job that is over", { spec: {}, status: { conditions: [{ type: "Failed", status: "True" }] } }, false],
  ["a ReplicaSet with too few pods", { spec: { replicas: 2 }, status: { replicas: 1 } }, true],
  ["a ReplicaSet with all of them", { spec: { replicas: 2 }, status: { replicas: 2 } }, false],
  ["a DaemonSet", { spec: {}, status: { desiredNumberScheduled: 2, currentNumberScheduled: 1 } }, true],
])("whether an owner lacks pods: %s", (_, owner, lacks) => expect(lacksPods(owner)).toBe(lacks));

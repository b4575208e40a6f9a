import { describe, expect, test } from "bun:test";
import type { Pod, PodSpec, Workload } from "../../../../../src/cluster/api/core/objects.ts";
import {
  componentOf,
  deploymentFinding,
  describeComponent,
  howToInstall,
  type Registration,
  registrationFindings,
  secretFinding,
  secretsOf,
  webhooksOf,
} from "../../../../../src/cluster/doctor/core/installation.ts";
import type { Installed } from "../../../../../src/cluster/doctor/core/replicas.ts";

const specOf = (image: string, ...args: readonly string[]) => ({ containers: [{ name: "ebb", image, args }] });
const spec = specOf("ebb:1", "--image=ebb:1");
const ready = { conditions: [{ type: "Ready", status: "True" }] };
const podOf = (name: string, status: object, own: PodSpec = spec): Pod => ({
  metadata: { namespace: "ns", name, uid: name },
  spec: own,
  status,
});

type Given = { replicas?: number; pods?: Pod[]; template?: PodSpec } & Omit<
  NonNullable<Workload["status"]>,
  "replicas"
>;

/** A Deployment of two replicas with this status and this template. */
function installed(component: string, { replicas = 2, pods, template = spec, ...status }: Given): Installed {
  const metadata = {
    namespace: "ns",
    name: `ebb-${component}`,
    uid: "u",
    labels: { "app.kubernetes.io/component": component },
  };
  return { deployment: { metadata, spec: { replicas, template: { spec: template } }, status }, pods };
}

const well = { readyReplicas: 2, updatedReplicas: 2 };
const found = (each: Installed) => deploymentFinding(each)?.message;

test("each installed component is told in a line", () => {
  const told = (each: Installed) => describeComponent(componentOf(each));
  expect(told(installed("webhook", { readyReplicas: 1 }))).toBe(
    "webhook ns/ebb-webhook: 1 of 2 replicas ready, image ebb:1",
  );
  const pods = [podOf("a", ready, specOf("ebb:0")), podOf("b", {}, specOf("ebb:2"))];
  expect(told(installed("webhook", { readyReplicas: 1, pods }))).toEndWith(", image ebb:0");
  expect(told(installed("webhook", { pods: [] }))).toEndWith(", image ebb:1");
});

test.each<[string, Installed, RegExp | undefined]>([
  ["a reaper that is well", installed("reaper", well), undefined],
  [
    "a reaper of which one replica is ready",
    installed("reaper", { readyReplicas: 1 }),
    /^only 1 of its 2 .* -n ns logs /,
  ],
  [
    "a reaper without replicas",
    installed("reaper", {}),
    /^no replica is ready, so the reaper ends no sidecar; its log/,
  ],
  [
    "a reaper that is scaled down",
    installed("reaper", { replicas: 0 }),
    /scaled to 0: .* --replicas=1 deployment\/ebb-reaper$/,
  ],
  ["a webhook without replicas, of which its registration tells", installed("webhook", {}), undefined],
  ["a webhook of which one replica is ready", installed("webhook", { readyReplicas: 1 }), /^only 1 of its 2 replicas/],
])("%s", (_, each, message) => {
  if (message === undefined) expect(found(each)).toBeUndefined();
  else expect(found(each)).toMatch(message);
});

const refused = { conditions: [{ type: "ReplicaFailure", status: "True", message: "exceeded quota: q" }] };
const unscheduled = { conditions: [{ type: "PodScheduled", status: "False", message: "0/1 nodes" }] };
const container = (more: object) => ({ containerStatuses: [{ name: "reaper", restartCount: 0, ...more }] });
const waits = (reason: string, message?: string) => container({ state: { waiting: { reason, message } } });
const ended = { exitCode: 64, reason: "Error", message: 'ebb: --set drain: expected a duration, got "fourty"\n' };
const crash = `its pod reaper-0 (image ebb:1) fails (3 restarts): exit code 64, Error: ${ended.message.trim()}`;

test.each<[string, object, object, string]>([
  ["refused", refused, {}, "its pods are refused: exceeded quota: q; change that rule,"],
  ["without a node", {}, unscheduled, "its pod reaper-0 has no node: 0/1 nodes; add one,"],
  [
    "whose image cannot be pulled",
    {},
    waits("ImagePullBackOff", "Back-off"),
    "its pod reaper-0 (image ebb:1) cannot start: ImagePullBackOff: Back-off; correct --image (Helm: image, imagePullSecrets)",
  ],
  [
    "whose image runs as root",
    {},
    waits("CreateContainerConfigError", "container has runAsNonRoot and image will run as root"),
    "its pod reaper-0 (image ebb:1) cannot start: CreateContainerConfigError: container has runAsNonRoot and image will run as root; its image needs a USER",
  ],
  [
    "whose Secret is missing",
    {},
    waits("ContainerCreating"),
    "its pod reaper-0 waits for its image or a volume: kubectl",
  ],
  [
    "that crash",
    {},
    container({
      restartCount: 3,
      state: { waiting: { reason: "CrashLoopBackOff" } },
      lastState: { terminated: ended },
    }),
    crash,
  ],
  [
    "that crash, and run just now",
    {},
    container({ restartCount: 3, state: { running: {} }, lastState: { terminated: ended } }),
    crash,
  ],
  ["that run, and are not ready", {}, container({ state: { running: {} } }), "its log says why"],
])("replicas %s: why they are not ready", (_, ofDeployment, ofPod, expected) => {
  const message = found(installed("reaper", { ...ofDeployment, pods: [podOf("reaper-0", ofPod)] }));
  expect(message).toStartWith(`no replica is ready, so the reaper ends no sidecar; ${expected}`);
});

describe("a rollout that is not complete", () => {
  const broken = podOf("new-0", waits("ErrImagePull", "not found"), specOf("ebb:nosuch", "--image=ebb:nosuch"));
  const stuck = { readyReplicas: 2, updatedReplicas: 1, unavailableReplicas: 1 };
  const pods = [podOf("old-0", ready), podOf("old-1", ready), broken];
  const half = installed("webhook", { ...stuck, template: broken.spec, pods });

  test("names the replicas that answer, and why the next do not start", () => {
    expect(componentOf(half)).toMatchObject({ ready: 2, image: "ebb:1" });
    expect(found(half)).toMatch(
      /^its rollout is not complete: 2 replicas ready, with image ebb:1; its pod new-0 \(image ebb:nosuch\) cannot start: ErrImagePull: not found; correct/,
    );
  });

  test("of one replica is seen, too", () => {
    const one = { replicas: 1, readyReplicas: 1, updatedReplicas: 1, unavailableReplicas: 1 };
    expect(found(installed("reaper", { ...one, pods: [podOf("old-0", ready), broken] }))).toContain(
      "1 replica ready, with image ebb:1; its pod new-0",
    );
  });

  test("injects what the replicas that are ready inject", () => {
    expect(webhooksOf([{ ...registration, deployments: [half] }]).injected).toEqual([ebb1, ebb1]);
    expect(webhooksOf([{ ...registration, deployments: [{ ...half, pods: [broken] }] }]).injected).toEqual([]);
    expect(webhooksOf([{ ...registration, deployments: [{ ...half, pods: undefined }] }]).injected).toEqual([]);
  });
});

test("the Secrets that a next replica needs are those that its arguments and its volumes name", () => {
  const of = (component: string, args: readonly string[], volumes: NonNullable<PodSpec["volumes"]> = []) =>
    secretsOf(installed(component, { template: { ...specOf("ebb", ...args), volumes } }));
  const mounted = [
    { name: "a", secret: { secretName: "tls" } },
    { name: "b", secret: { secretName: "any", optional: true } },
    { name: "c" },
  ];
  expect(of("webhook", ["--name=own"])).toEqual(["own-certificates"]);
  expect(of("webhook", [])).toEqual(["ebb-webhook-certificates"]);
  expect(of("webhook", ["--cert-dir=/certificates"], mounted)).toEqual(["tls"]);
  expect(of("reaper", [])).toEqual([]);
  expect(secretFinding(installed("webhook", {}), "own")).toEqual({
    object: "Secret ns/own",
    message: expect.stringMatching(
      /^it does not exist, and a replica of the webhook needs it to start: install that again \(ebb manifests webhook\)$/,
    ),
  });
});

const ebb1 = { image: "ebb:1", options: {} };
const release = { "meta.helm.sh/release-name": "ebb", "meta.helm.sh/release-namespace": "mesh" };
const registration: Registration = {
  ...{ name: "ebb-webhook", isRequired: true, isTrusted: true, selectors: [{}], service: "ns/ebb-webhook" },
  ...{ again: howToInstall("webhook", {}), isServiceThere: true, deployments: [installed("webhook", well)] },
};

describe("a registration", () => {
  test.each<[string, Partial<Registration>, RegExp[]]>([
    ["that is fine", {}, []],
    ["that may not be looked behind", { isServiceThere: undefined, deployments: undefined }, []],
    [
      "that was left over",
      { isServiceThere: false, deployments: [] },
      [
        /Service ns\/ebb-webhook does not exist, .* is refused: .*kubectl delete mutatingwebhookconfiguration ebb-webhook$/,
      ],
    ],
    [
      "without replicas",
      { deployments: [installed("webhook", {})], isRequired: false },
      [/is ready, so pods start without ebb; its log says why.* -n ns logs --all-pods deployment\/ebb-webhook$/],
    ],
    [
      "without replicas, that nobody trusts",
      { deployments: [installed("webhook", {})], isTrusted: false },
      [/^no replica .* is ready/],
    ],
    [
      "that is scaled down",
      { deployments: [installed("webhook", { replicas: 0 })] },
      [/-n ns scale --replicas=2 deployment\/ebb-webhook$/],
    ],
    [
      "without a Deployment",
      { deployments: [] },
      [/is ready, so .*; install the webhook again \(ebb manifests webhook\)$/],
    ],
    [
      "of a Helm release, without a Deployment",
      { deployments: [], again: howToInstall("webhook", { annotations: release }) },
      [/; install the webhook again \(helm upgrade ebb CHART --namespace mesh --reset-then-reuse-values\)$/],
    ],
    [
      "that nobody trusts",
      { isTrusted: false },
      [/^it has no caBundle, so each pod that it selects is refused; its log .*deployment\/ebb-webhook; with cert-m/],
    ],
  ])("%s", (_, changes, messages) => {
    const findings = registrationFindings({ ...registration, ...changes });
    const object = "MutatingWebhookConfiguration ebb-webhook";
    expect(findings).toEqual(messages.map((message) => ({ object, message: expect.stringMatching(message) })));
  });

  test("that is left over answers nobody", () => {
    const left = { ...registration, isServiceThere: false, deployments: [] };
    expect(webhooksOf([left])).toMatchObject({ count: 1, answering: 0, selections: [] });
    expect(webhooksOf([left, registration]).answering).toBe(1);
  });

  test("says with its Deployment what is put into which pods", () => {
    const of = (...args: readonly string[]) => {
      const template = specOf("ebb", "--image=ebb:1", ...args);
      const deployments = [installed("webhook", { ...well, template, pods: [podOf("a", ready, template)] })];
      return webhooksOf([{ ...registration, deployments }]);
    };
    expect(of("--all", "--set=drain=40s\nquit=POST http://h/?a=b")).toMatchObject({
      injected: [{ image: "ebb:1", options: { drain: "40s", quit: "POST http://h/?a=b" } }],
      selections: [{ all: true }],
      volumes: ["emptyDir"],
    });
    expect(of("--image", "ebb:2", "--volume=image")).toMatchObject({
      injected: [{ image: "ebb:2" }],
      selections: [{ all: false }],
      volumes: ["image"],
    });
  });
});

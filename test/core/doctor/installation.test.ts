import { expect, test } from "bun:test";
import {
  componentFinding,
  componentOf,
  describeComponent,
  formerFinding,
} from "../../../src/core/doctor/installation.ts";
import { whyNotStarted } from "../../../src/core/doctor/replicas.ts";

const deployment = (component: string, replicas: number, readyReplicas?: number) =>
  componentOf({
    metadata: { namespace: "ns", name: `ebb-${component}`, labels: { "app.kubernetes.io/component": component } },
    spec: { replicas, template: { spec: { containers: [{ image: "ebb:1", args: ["--image=ebb:1"] }] } } },
    status: { readyReplicas },
  });

test("what is installed is told in a line", () => {
  expect(describeComponent(deployment("webhook", 2, 1))).toBe(
    "webhook ns/ebb-webhook: 1 of 2 replicas ready, image ebb:1",
  );
});

test.each<[string, ReturnType<typeof componentOf>, RegExp | undefined]>([
  ["a reaper that is well", deployment("reaper", 2, 2), undefined],
  ["a reaper of which one replica is ready", deployment("reaper", 2, 1), /^only 1 of its 2 replicas .* -n ns logs /],
  ["a reaper that is scaled down", deployment("reaper", 0), /scaled to 0/],
  ["a CronJob of another component", { ...deployment("other", 0), suspended: true }, undefined],
  ["a webhook, of which its registration tells", deployment("webhook", 2), undefined],
])("%s", (_, component, message) => {
  const found = componentFinding(component)?.message;
  if (message === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(message);
});

const refused = { conditions: [{ type: "ReplicaFailure", status: "True", message: "exceeded quota: q" }] };
const unscheduled = { conditions: [{ type: "PodScheduled", status: "False", message: "0/1 nodes" }] };
const waits = (reason: string, message?: string, restartCount = 0) => ({
  containerStatuses: [{ name: "reaper", restartCount, state: { waiting: { reason, message } } }],
});

test.each<[string, object, object, string | undefined]>([
  ["refused", refused, {}, "its pods are refused: exceeded quota: q; change that rule,"],
  ["without a node", {}, unscheduled, "its pod reaper-0 has no node: 0/1 nodes; add one,"],
  [
    "whose image cannot be pulled",
    {},
    waits("ImagePullBackOff", "Back-off"),
    "its pod reaper-0 cannot start: ImagePullBackOff: Back-off; correct --image (Helm: image, imagePullSecrets)",
  ],
  [
    "whose image runs as root",
    {},
    waits("CreateContainerConfigError", "container has runAsNonRoot and image will run as root"),
    "its pod reaper-0 cannot start: CreateContainerConfigError: container has runAsNonRoot and image will run as root; its image needs a USER",
  ],
  [
    "whose Secret is missing",
    {},
    waits("ContainerCreating"),
    "its pod reaper-0 waits for its image or a volume: kubectl -n ns d",
  ],
  ["that have started, and failed", {}, waits("CrashLoopBackOff", "back-off 5m0s", 3), undefined],
])("replicas %s: why they have not started", (_, ofDeployment, ofPod, expected) => {
  const pods = [{ metadata: { namespace: "ns", name: "reaper-0" }, status: ofPod }];
  const why = whyNotStarted({ status: ofDeployment }, pods);
  if (expected === undefined) expect(why).toBeUndefined();
  else expect(why).toStartWith(expected);
  expect(componentFinding({ ...deployment("reaper", 1), why })?.message).toEndWith(
    why ?? "logs --all-pods deployment/ebb-reaper",
  );
});

test("replicas of before that still answer are named, with how to wait for them", () => {
  const pod = (name: string, image: string, deletionTimestamp?: string) => ({
    metadata: { name, deletionTimestamp },
    spec: { containers: [{ args: ["webhook", `--image=${image}`] }] },
  });
  const component = deployment("webhook", 1, 1);
  expect(formerFinding(component, [pod("a", "ebb:1"), pod("b", "ebb:1", "now"), pod("c", "ebb:0")])).toBeUndefined();
  expect(formerFinding(component, [pod("a", "ebb:1"), pod("d", "ebb:0", "now")])).toEqual({
    object: "Deployment ns/ebb-webhook",
    message: "replicas that inject ebb:0 still answer: before you restart pods, kubectl -n ns wait --for=delete pod/d",
  });
});

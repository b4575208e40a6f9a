import { expect, test } from "bun:test";
import {
  componentFinding,
  componentOf,
  describeComponent,
  formerFinding,
} from "../../../src/core/doctor/installation.ts";

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
  ["a webhook, of which its registration tells", deployment("webhook", 2), undefined],
])("%s", (_, component, message) => {
  const found = componentFinding(component)?.message;
  if (message === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(message);
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

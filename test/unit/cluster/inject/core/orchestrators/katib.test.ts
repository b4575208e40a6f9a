import { expect, test } from "bun:test";
import { injectPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import { app, type Loose, podIn, policy } from "../injection.ts";

/** As the webhook changes the pods of a labelled namespace. */
const ofNamespace = { ...policy, all: true, isAdmission: true, entrypoints: new Map([["app", ["python", "t.py"]]]) };

/**
 * Does to a trial's pod what Katib's webhook does (katib v0.19.0, pkg/webhook/v1beta1/pod/inject_webhook.go, Mutate, and
 * utils.go, wrapWorkerContainer). The API server calls it after ebb's, by their names, and then ebb's again.
 */
function katib(pod: Loose): Loose {
  const { metadata, spec } = structuredClone(pod);
  const [training] = spec.containers;
  const words = [...(training.command ?? ["python", "t.py"]), ...(training.args ?? [])];
  const isShell = ["sh", "bash"].includes(words[0]) && words[1] === "-c";
  training.command = isShell ? words.splice(0, 2) : ["sh", "-c"];
  const after = ["1>/var/log/katib/metrics.log", "2>&1", "&&", "echo completed > /var/log/katib/$$$$.pid"];
  training.args = [[...words, ...after].join(" ")];
  training.volumeMounts = [...(training.volumeMounts ?? []), { name: "metrics-volume", mountPath: "/var/log/katib" }];
  spec.containers.push({ name: "metrics-logger-and-collector", image: "r.example.com/collector:1" });
  spec.volumes = [...(spec.volumes ?? []), { name: "metrics-volume", emptyDir: {} }];
  spec.shareProcessNamespace = true;
  return { metadata: { ...metadata, labels: { ...metadata.labels, "katib.kubeflow.org/trial": "lr" } }, spec };
}

test.each<[string, object]>([
  ["a program", { command: ["python", "train.py"], args: ["--lr=0.01"] }],
  ["a shell's script", { command: ["sh", "-c", "cd /src && python train.py"] }],
  ["a script with blanks", { command: ["sh", "-c", "python  train.py   && echo 'a  b' "] }],
  ["bash's script, in args", { command: ["bash"], args: ["-c", "python train.py --lr=0.01"] }],
  ["a tool that ebb replaces", { command: ["/bin/scuttle", "python", "train.py"] }],
  ["the image's command", { command: undefined }],
])("a trial that starts %s is as if ebb had never been in its pod, once Katib has changed it", (_, more) => {
  const pod: Loose = { metadata: { labels: { job: "lr" } }, spec: { restartPolicy: "Never", containers: [app(more)] } };
  const first = podIn(injectPod(pod, ofNamespace));
  expect(first.spec.containers[0].command[0]).toBe("/ebb.dev/ebb");
  const injection = injectPod(katib(first), ofNamespace);
  if (injection.kind !== "removed") throw new Error(injection.kind);
  expect(injection.pod).toEqual(katib(pod));
  const message = 'ebb leaves "app" as it is: Katib needs it as it is';
  expect(injection.problems.map((problem) => problem.message)).toContain(message);
});

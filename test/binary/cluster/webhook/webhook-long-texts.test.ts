import { expect, test } from "bun:test";
import { expectWell, metrics } from "./hostile-clients.ts";
import { nonEmpty, pod, said, startWebhook, type Webhook } from "./webhook.ts";

/** About the largest request that the webhook takes. */
const SIZE = 6_900_000;
const [app] = pod.spec.containers;

/** Returns a text that takes `length` bytes in JSON. */
function long(unit: string, length = SIZE): string {
  return unit.repeat(length / (JSON.stringify(unit).length - 2));
}

const container = (more: object) => ({ ...pod, spec: { containers: [{ ...app, ...more }] } });
const command = (...words: string[]) => container({ command: words });
const image = (name: string, count = 1) => {
  const containers = Array.from({ length: count }, (_, at) => ({ name: `c${at}`, image: name }));
  return { ...pod, spec: { containers } };
};
const spec = (more: object) => ({ ...pod, spec: { ...pod.spec, ...more } });
const metadata = (more: object) => ({ ...pod, metadata: { ...pod.metadata, ...more } });
const annotated = (annotations: object) => ({ annotations: { ...pod.metadata.annotations, ...annotations } });
const env = (name: string, value: string) => container({ env: [{ name, value }] });
const mount = (more: object) => container({ volumeMounts: [{ name: "v", mountPath: "/v", ...more }] });
const hook = (preStop: object) => container({ lifecycle: { preStop } });

/** A pod of several containers, all of which find the pod's annotations in a volume: each is told the path. */
function sharing(path: string): object {
  const items = [{ path, fieldRef: { fieldPath: "metadata.annotations" } }];
  const volumeMounts = [{ name: "v", mountPath: "/etc/podinfo" }];
  const containers = Array.from({ length: 20 }, (_, at) => ({ ...app, name: `c${at}`, volumeMounts }));
  return spec({ volumes: [{ name: "v", downwardAPI: { items } }], containers });
}

/** A pod that an earlier ebb has changed, and another webhook since: ebb is in a shell's script. */
function wrapped(script: string): object {
  const status = { "ebb.dev/status": '{"containers":{"app":{"command":"wrapped"}}}' };
  const containers = [{ ...app, command: ["sh", "-c"], args: [`/ebb.dev/ebb run -- ${script}`] }];
  return { ...metadata(annotated(status)), spec: { containers } };
}

const cases: Readonly<Record<string, object>> = {
  "a uid": { uid: long("a") },
  "a name": { name: long("a") },
  "the pod's name": { object: metadata({ name: long("\u0001") }) },
  "an owner": { object: metadata({ ownerReferences: [{ kind: "Job", name: long("a") }] }) },
  "a label of ebb's": { object: metadata({ labels: { [`ebb.dev/${long("/")}`]: "" } }) },
  "an annotation": { object: metadata(annotated({ "ebb.dev/drain": long("1s") })) },
  "a wish that is none": { object: metadata(annotated({ "ebb.dev/inject": [long("a")] })) },
  "the name of an annotation": { object: metadata(annotated({ [long("/")]: "" })) },
  "a container's name": { object: container({ name: long("a") }) },
  "an image": { object: container({ image: long("a/") }) },
  "an image without a command": { object: image(long("a")) },
  "a hundred of these": { object: image(long("a", SIZE / 100), 100) },
  "a command": { object: command(long("a/")) },
  "a shell's script": { object: command("sh", "-c", long(";a")) },
  "args of quotes": { object: container({ args: [long('"')] }) },
  "args of backslashes": { object: container({ args: [long("\\")] }) },
  "a script with an earlier ebb": { object: wrapped(long("a ")) },
  "a variable's name": { object: env(long("a"), "") },
  "a variable": { object: env("EBB_QUIT", long("http://localhost:1/,")) },
  "a drain": { object: env("EBB_DRAIN", long("1s")) },
  "a mount's path": { object: mount({ mountPath: long("/a") }) },
  "a mount's path of dots": { object: mount({ mountPath: long("/.") }) },
  "thousands of mounts": {
    object: container({ volumeMounts: Array(900).fill({ name: "v", mountPath: long("/a", SIZE / 1000) }) }),
  },
  "a mount's folder": { object: mount({ mountPath: "/etc/podinfo", subPath: long("a") }) },
  "a hook": { object: hook({ exec: { command: ["sh", "-c", long("curl ")] } }) },
  "a hook's URL": { object: hook({ httpGet: { path: long("/quitquitquit"), port: 1 } }) },
  "a hook that sleeps": { object: hook({ sleep: { seconds: 1, more: long("a") } }) },
  "a stop signal": { object: container({ lifecycle: { stopSignal: long("SIGQUIT") } }) },
  "a quantity": { object: container({ resources: { limits: { cpu: long("1") } } }) },
  "a port's name": { object: container({ ports: [{ name: long("a"), containerPort: 80 }] }) },
  "a restart policy": { object: spec({ restartPolicy: long("a") }) },
  "an operating system": { object: spec({ nodeSelector: { "kubernetes.io/os": long("a") } }) },
  "a volume's name": { object: spec({ volumes: [{ name: long("a") }] }) },
  "the path of the annotations": { object: sharing(long("a")) },
  "a Secret's name": { object: spec({ imagePullSecrets: [{ name: long("a") }] }) },
  "a field's name": { object: spec({ [long("/")]: 1 }) },
};

test("a text of 7 MB costs about what it costs to read it, wherever it stands, and a short line of the log", async () => {
  await using webhook = await startWebhook(["--log-level", "debug"]);
  const ask = (changes: object) => webhook.ask(changes).then((answer) => answer.text());
  const costOf = async (changes: object): Promise<number> => {
    const before = await cpuSeconds(webhook);
    await ask(changes);
    return (await cpuSeconds(webhook)) - before;
  };
  await costOf({ object: env("A", long("a")) }); // some memory is there
  const cost = await costOf({ object: env("A", long("a")) });
  const expensive: Record<string, number> = {};
  for (const [name, changes] of Object.entries(cases)) {
    const seconds = await costOf(changes);
    if (seconds > 7 * cost) expensive[name] = seconds;
  }
  expect(expensive, `to read it costs ${cost} s`).toEqual({});
  await expectWell(webhook);
  const lines = webhook.started.stderr().split("\n");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(2000);
}, 120_000);

/** Returns the processor time that the webhook has used so far. */
async function cpuSeconds(webhook: Webhook): Promise<number> {
  return Number(/^process_cpu_seconds_total (\S+)$/m.exec(await metrics(webhook))?.[1]);
}

test("a pod with as much in its commands, variables and annotations as etcd takes is changed as any other", async () => {
  await using webhook = await startWebhook();
  const text = long("a", 300_000);
  const more = { args: [text], env: [{ name: "A", value: text }], livenessProbe: { exec: { command: [text] } } };
  const managedFields = [{ fieldsV1: { [text]: {} } }];
  const object = {
    ...metadata({ ...annotated({ a: long("a", 200_000) }), managedFields }),
    spec: container(more).spec,
  };
  const answer = await (await webhook.ask({ object })).text();
  expect(answer).toContain('"patch":');
  expect(answer.length).toBeLessThan(4000);
  expect(nonEmpty(said(webhook, "injected ebb into a pod"))).toHaveLength(1);
});

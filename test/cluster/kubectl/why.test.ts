import { afterAll, expect, test } from "bun:test";
import { images, namespace } from "../cluster.ts";
import { envoySidecar } from "../envoy.ts";
import { jobOf, type KubeObject, podOf, statusOf } from "../objects.ts";
import { quits, reaperEvents, standInPod, standIns } from "../reaper/reapers.ts";
import { installPlugin } from "./plugin.ts";

// `kubectl ebb why POD` by the pods of a real kubelet.

const plugin = installPlugin();
afterAll(() => plugin[Symbol.dispose]());

const native = envoySidecar({ upstreamPort: 8081, isNative: true });
const ends = { name: "app", image: images.app, args: ["exit", "0"] };
const lasts = { name: "app", image: images.app, args: ["record"] };
const unselected = { annotations: { "ebb.dev/reap": undefined } };
const selected = { annotations: { "ebb.dev/reap": "true" } };

interface Case {
  readonly pod: (name: string) => KubeObject;
  readonly says: RegExp;
  /** 1 if it is stuck. */
  readonly code?: 1;
  readonly rule?: string;
}

/** A pod by its name, which is the rule for it unless `rule` or `code` says otherwise, with what `why` says of it. */
const pods: Readonly<Record<string, Case>> = {
  stuck: {
    pod: standInPod,
    says: /^stuck: the app has ended .* \(app: exit code 0\), but envoy still runs$/m,
    code: 1,
  },
  failed: {
    pod: (name) => standInPod(name, { code: 3 }),
    says: /\(app: exit code 3\), but envoy still runs$/m,
    code: 1,
  },
  "not-selected": {
    pod: (name) => standInPod(name, unselected),
    says: /^the reaper leaves it, because:\n {2}not-selected: neither it nor its namespace has the label/m,
    code: 1,
  },
  "opted-out": {
    pod: (name) => standInPod(name, { annotations: { "ebb.dev/reap": "false" } }),
    says: /^ {2}opted-out: its annotation says ebb.dev\/reap: "false"$/m,
    code: 1,
  },
  "unreadable-choice": {
    pod: (name) => standInPod(name, { annotations: { "ebb.dev/reap": "yes" } }),
    says: /^ {2}unreadable-choice: its annotation ebb.dev\/reap: expected true or false, got "yes"$/m,
    code: 1,
  },
  "app-running": {
    pod: (name) => standInPod(name, { code: undefined }),
    says: /^not stuck: [a-z-]+: app container app still runs$/m,
  },
  server: {
    rule: "app-running",
    pod: (name) => standInPod(name, { code: undefined, more: { restartPolicy: "Always" } }),
    says: /^not stuck: app-running: app container app still runs\nalso:\n {2}sidecar-restarts: .*restartPolicy Always/m,
  },
  contradiction: {
    pod: (name) => standInPod(name, { annotations: { "ebb.dev/reap-quit.nope": "http://localhost:1/" } }),
    says: /^not stuck: [a-z-]+: ebb.dev\/reap-quit.nope: there is no container "nope"/m,
  },
  "no-method": {
    pod: (name) =>
      podOf(
        name,
        { containers: [ends, { ...lasts, name: "helper" }] },
        { annotations: { ...selected.annotations, "ebb.dev/sidecars": "helper" } },
      ),
    says: /^stuck: ebb does not know how to end helper: /m,
    code: 1,
    rule: "no-method",
  },
  "no-sidecar": {
    pod: (name) =>
      podOf(name, { containers: [lasts], initContainers: [native.container], volumes: [native.volume] }, selected),
    says: /^not stuck: [a-z-]+: the kubelet ends its native sidecars \(envoy\) after the app$/m,
  },
  over: {
    pod: (name) => podOf(name, { containers: [ends] }, selected),
    says: /^not stuck: [a-z-]+: it has finished: Succeeded$/m,
  },
  pending: {
    pod: (name) =>
      podOf(name, { containers: [{ name: "app", image: "localhost/nope:1", imagePullPolicy: "Never" }] }, selected),
    says: /^app +app +- +ErrImageNeverPull$/m,
  },
};

test("each rule is told in the reaper's words, with what ends the pod", async () => {
  await using here = await namespace();
  const made = Object.entries(pods).map(([name, { pod }]) => pod(name));
  await here.apply([standIns, native.configMap, ...made]);
  for (const [name, { says, code = 0, rule = code === 1 ? "stuck" : name }] of Object.entries(pods)) {
    const text = await here.until(`${name} is ${rule}`, async () => {
      const seen = await plugin.ebb(here, "why", name, "--after", "0s");
      return says.test(seen.stdout) && seen.code === code ? seen : undefined; // some rules are told while the app runs, too
    });
    expect([name, text.stderr]).toEqual([name, ""]);
    const json = await plugin.ebb(here, "why", name, "-o", "json", "--after", "0s");
    expect([name, json.code]).toEqual([name, code]);
    const document = JSON.parse(json.stdout);
    expect(document).toMatchObject({ namespace: here.name, name, state: rule, stuck: code === 1, end: null });
    expect([name, document.methods.length > 0]).toEqual([name, rule === "stuck"]);
  }
  const text = await plugin.ebb(here, "why", "stuck");
  expect(text.stdout).toContain("POST localhost:9901/quitquitquit through a port-forward\n");
  expect(text.stdout).toContain("ephemeral container that shuts down envoy: needs --image IMAGE\n");
  const young = await plugin.ebb(here, "why", "stuck", "--after", "10m");
  expect([young.code, young.stdout]).toEqual([1, expect.stringMatching(/^ {2}too-early: .* less than 10m ago$/m)]);
  expect([await quits(here, "stuck"), await reaperEvents(here)]).toEqual([0, []]);

  // an ephemeral container, for debugging
  const debug = ["debug", "failed", "--attach=false", "--image", images.bun, "--container", "look", "--"];
  await here.kubectl(...debug, "/bun", "-e", "setInterval(() => 0, 1e6)");
  const debugged = await here.until("it runs", async () => {
    const seen = await plugin.ebb(here, "why", "failed");
    return seen.stdout.includes("not stuck: debugged: ") ? seen : undefined;
  });
  expect([debugged.code, debugged.stdout]).toEqual([0, expect.stringContaining("somebody is debugging it: look runs")]);
});

/** Sidecars whose Jobs people find stuck, by the names that their injectors give them, and a method that ends each. */
const sidecars: Readonly<Record<string, string>> = {
  "istio-proxy": "exec in istio-proxy: pilot-agent request POST quitquitquit",
  "linkerd-proxy": "POST localhost:4191/shutdown through a port-forward",
  "kuma-sidecar": "POST localhost:9901/quitquitquit through a port-forward",
  "consul-dataplane": "POST localhost:19000/quitquitquit through a port-forward",
  daprd: "POST localhost:3500/v1.0/shutdown through a port-forward",
  "vault-agent": "POST localhost:8200/agent/v1/quit through a port-forward",
  "cloud-sql-proxy": "exec in cloud-sql-proxy: /cloud-sql-proxy shutdown --admin-port 9091",
};

test.concurrent("a Job's pod is stuck beside each sidecar that never ends, and its way to end is named", async () => {
  await using here = await namespace();
  await here.apply(Object.keys(sidecars).map((name) => jobOf(name, { containers: [ends, { ...lasts, name }] })));
  const jobs = await Promise.all(
    Object.entries(sidecars).map(async ([name, method]) => ({ name, method, pod: await here.podOf(name) })),
  );
  for (const { name, method, pod } of jobs) {
    const stuck = await here.until(`${name} is stuck`, async () => {
      const seen = await plugin.ebb(here, "why", pod.metadata.name, "--all-jobs", "--after", "0s");
      return seen.code === 1 ? seen : undefined;
    });
    expect(stuck.stdout).toContain(
      `stuck: the app has ended and will not restart (app: exit code 0), but ${name} still runs\n`,
    );
    expect(stuck.stdout).toContain(`, of Job ${name}\n`);
    expect(stuck.stdout).not.toContain("the reaper leaves it");
    expect(stuck.stdout).toContain(`  ${method}\n`);
  }
});

test.concurrent("--end ends a stuck pod, selected or not, and no other", async () => {
  await using here = await namespace();
  await here.apply([
    standIns,
    standInPod("stuck", { ...unselected, code: 3 }),
    standInPod("runs", { ...unselected, code: undefined }),
    standInPod("out", { annotations: { "ebb.dev/reap": "false" } }),
    standInPod("stays", { sidecar: "stays", annotations: { "ebb.dev/reap-patience.envoy": "1s" } }),
  ]);
  for (const name of ["stuck", "out", "stays"])
    await here.until(`${name} is stuck`, async () => (await plugin.ebb(here, "why", name)).code === 1);
  const ended = await plugin.ebb(here, "why", "stuck", "--end", "--after", "1s");
  expect([ended.code, ended.stdout]).toEqual([
    0,
    expect.stringMatching(/^ended: envoy, by POST localhost:9901\/quitquitquit/m),
  ]);
  await here.until("it is over as its app was", async () => (await here.pod("stuck")).status.phase === "Failed");
  expect((await reaperEvents(here, "stuck")).map(({ reason }) => reason).sort()).toEqual([
    "SidecarAsked",
    "SidecarsEnded",
  ]);
  const again = await plugin.ebb(here, "why", "stuck", "--end");
  expect([again.code, again.stdout]).toEqual([0, expect.stringContaining("left alone: it has finished: Failed")]);

  const runs = await plugin.ebb(here, "why", "runs", "--end", "-o", "json");
  expect([runs.code, JSON.parse(runs.stdout)]).toEqual([
    0,
    expect.objectContaining({ end: { result: "left alone", why: "app container app still runs" } }),
  ]);
  const out = await plugin.ebb(here, "why", "out", "--end");
  expect([out.code, out.stdout]).toEqual([
    69,
    expect.stringContaining('left alone: its annotation says ebb.dev/reap: "false"'),
  ]);
  const stays = await plugin.ebb(here, "why", "stays", "--end", "--methods", "port-forward", "--after", "0s");
  expect([stays.code, stays.stdout]).toEqual([
    69,
    expect.stringMatching(/^gave up: envoy still runs after all methods/m),
  ]);
  expect([await quits(here, "runs"), await quits(here, "out")]).toEqual([0, 0]);
});

test.concurrent("an Envoy at any port: with --image an ephemeral container ends it, at once after a refusal", async () => {
  await using here = await namespace();
  const { configMap, volume, container } = envoySidecar({ upstreamPort: 8081, adminPort: 9999 });
  await here.apply([configMap, podOf("odd", { containers: [ends, container], volumes: [volume] })]);
  await here.until("it is stuck", async () => (await plugin.ebb(here, "why", "odd")).code === 1);
  await here.until("Envoy runs", async () => statusOf(await here.pod("odd"), "envoy")?.state.running);
  const refused = await plugin.ebb(here, "why", "odd", "--end", "--after", "0s");
  expect([refused.code, refused.stdout]).toEqual([
    69,
    expect.stringMatching(/^gave up: envoy still runs .*--image IMAGE allows one more.*connection refused/m),
  ]);
  const ended = await plugin.ebb(here, "why", "odd", "--end", "--after", "0s", "--image", images.ebb);
  expect([ended.code, ended.stdout]).toEqual([
    0,
    expect.stringMatching(/^ended: envoy, by ephemeral container: ebb quit --sidecar envoy$/m),
  ]);
  await here.until("it is over as its app was", async () => (await here.pod("odd")).status.phase === "Succeeded");
});

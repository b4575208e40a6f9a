import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { issueAuthority, issueServing } from "../../../src/cluster/certificates/issue.ts";
import { ebb } from "../../harness/ebb.ts";
import {
  type Behaviour,
  Content,
  refusal,
  type StandInRegistry,
  startStandIn,
} from "../../unit/cluster/image/stand-in-registry.ts";
import { request } from "../api.ts";
import { images, type Namespace } from "../cluster.ts";
import { configMapOf, podOf, statusOf } from "../objects.ts";
import { runTool } from "../rig/daemon.ts";
import { network } from "../rig/place.ts";
import { type Installation, startInstallationWith } from "../webhook/installation.ts";
import { obstacle } from "./registries.ts";

// Registries that fail while pods are admitted. The node has the images already, as one in an air-gapped cluster.

const life = { fromMs: Date.now() - 60_000, untilMs: Date.now() + 86_400_000 };
const authority = issueAuthority(life);
const trusted = issueServing([network.node], life, authority);
const untrusted = issueServing([network.node], life, issueAuthority(life));

const content = new Content();
content.add("app:1", { config: { Entrypoint: ["/child"] } });
const endless: Behaviour = () =>
  new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536).fill(0x20)) }));
const lying: Behaviour = () => new Response("{}", { headers: { "docker-content-digest": `sha256:${"0".repeat(64)}` } });

interface Failing {
  /** The result as the metric has it, and the words of the warning. */
  readonly failure: string;
  readonly words: RegExp;
  readonly behave?: Behaviour;
  readonly serving?: typeof trusted;
}

const failing: Readonly<Record<string, Failing>> = {
  "refuses all": { failure: "unauthorized", words: /401/, behave: () => refusal(401, "UNAUTHORIZED", "no") },
  "is asked too often": {
    failure: "rate-limited",
    words: /429/,
    behave: () => refusal(429, "TOOMANYREQUESTS", "limit"),
  },
  "has an unknown CA": { failure: "untrusted", words: /certificate/, serving: untrusted },
  "does not answer": { failure: "timeout", words: /did not answer/, behave: () => new Promise<never>(() => undefined) },
  "lies about a digest": { failure: "invalid", words: /digest/, behave: lying },
  "answers without an end": { failure: "invalid", words: /1 MiB/, behave: endless },
  "is down": { failure: "unreachable", words: /cannot be reached/ },
};

let installed: Installation;
let here: Namespace;
const registries = new Map<string, StandInRegistry>();

describe.skipIf(obstacle !== undefined)("a pod of a registry that", () => {
  beforeAll(async () => {
    for (const [name, { behave, serving = trusted }] of Object.entries(failing)) {
      const registry = startStandIn(content, behave, { address: network.node, host: network.node, serving });
      registries.set(name, registry);
      await runTool("ctr", "--namespace", "k8s.io", "images", "tag", images.app, `${registry.host}/app:1`);
    }
    await registries.get("is down")?.[Symbol.asyncDispose]();
    const ca = configMapOf("registry-ca", { "ca.crt": authority.cert });
    const hosts = [...[...registries.values()].map(({ host }) => host), airGapped];
    const webhook = { registries: hosts, registryCaConfigMap: "registry-ca" };
    installed = await startInstallationWith([ca], { webhook: { replicas: 1, ...webhook } });
    here = await installed.namespace({ "ebb.dev/inject": "true" });
  }, 600_000);

  afterAll(async () => {
    await here?.[Symbol.asyncDispose]();
    await installed?.[Symbol.asyncDispose]();
    for (const registry of registries.values()) await registry[Symbol.asyncDispose]();
  });

  test.each(Object.entries(failing))("%s runs without its wrapper, and everybody is told why", async (what, row) => {
    const { failure, words } = row;
    const name = what.replaceAll(" ", "-").toLowerCase();
    const image = `${registries.get(what)?.host}/app:1`;
    const before = await lookups(failure);
    const job = podOf(`${name}-job`, { containers: [{ name: "app", image, args: ["record"] }] });
    const web = podOf(`${name}-web`, {
      containers: [{ name: "app", image, args: ["record"] }],
      restartPolicy: "Always",
    });
    const { code, stderr } = await here.tryApply([job, web]);
    expect([code, stderr.match(new RegExp(`^Warning: ebb: .*${words.source}`, "gm"))?.length]).toEqual([0, 2]);
    expect(await lookups(failure)).toBeGreaterThanOrEqual(before + 2);
    for (const pod of [`${name}-job`, `${name}-web`])
      await here.until(`${pod} runs`, async () => statusOf(await here.pod(pod), "app")?.ready);
    const statusIn = async (pod: string) =>
      JSON.parse((await here.pod(pod)).metadata.annotations?.["ebb.dev/status"] ?? "{}");
    expect(await statusIn(`${name}-job`)).toEqual({ skipped: expect.stringMatching(words) });
    expect((await statusIn(`${name}-web`)).containers.app).toMatchObject({
      hook: true,
      unwrapped: expect.stringMatching(words),
    });
    const { stdout } = await ebb(["doctor", "--namespace", here.name], {
      env: { KUBECONFIG: process.env.KUBECONFIG ?? "" },
    });
    for (const pod of ["job", "web"])
      expect(stdout).toMatch(new RegExp(`^Pod ${here.name}/${name}-${pod}: .*${words.source}`, "m"));
  });

  test("nobody can reach is waited for once by the pods of an image", async () => {
    await runTool("ip", "route", "add", "blackhole", airGapped);
    try {
      const first = await create("one");
      const later = await Promise.all(["two", "three", "four"].map((name) => create(name, "one")));
      expect([first.status, ...later.map(({ status }) => status)]).toEqual([201, 201, 201, 201]);
      expect(first.ms).toBeGreaterThan(3000); // a third of the 10 s that the API server waits
      expect(first.ms).toBeLessThan(8000);
      for (const { ms } of later) expect(ms).toBeLessThan(2000);
    } finally {
      await runTool("ip", "route", "del", "blackhole", airGapped);
    }
  });
});

/** An address for documentation (RFC 5737), from which no answer comes. */
const airGapped = "192.0.2.1";

/** Creates a pod of an image there in a dry run. Resolves with the status, and the milliseconds that it took. */
async function create(name: string, image = name) {
  const pod = podOf(name, { containers: [{ name: "app", image: `${airGapped}/${image}` }] });
  const start = performance.now();
  const { status } = await request("POST", `/api/v1/namespaces/${here.name}/pods?dryRun=All`, pod);
  return { status, ms: performance.now() - start };
}

/** Reads from the webhook's metrics how often it had this result. */
async function lookups(result: string): Promise<number> {
  const [pod] = await installed.here.pods("app.kubernetes.io/component=webhook");
  const text = await (await fetch(`http://${pod?.status.podIP}:8080/metrics`)).text();
  return Number(new RegExp(`^ebb_webhook_image_lookups_total\\{result="${result}"\\} (\\d+)$`, "m").exec(text)?.[1]);
}

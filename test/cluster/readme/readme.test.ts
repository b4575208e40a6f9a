import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { images, type Namespace, namespace } from "../cluster.ts";
import { envoySidecar, patience } from "../envoy.ts";
import { sidecarKind, startIstio } from "../istio/istio.ts";
import {
  exitCodeOf,
  hasCondition,
  jobOf,
  type KubeObject,
  type Pod,
  type PodSpec,
  serviceOf,
  statusOf,
  withPod,
} from "../objects.ts";
import { programs } from "../programs.ts";
import { loadPrograms, restart } from "../run/rollout.ts";
import { blocks, blockWith, fill } from "./blocks.ts";
import { type Shell, startShell } from "./shell.ts";

// Each manifest and command of the README, as it stands there: only images, and the words of the reader's own app, are
// others. Also the first steps of the manual's pages about the cluster.

const ownImage = { "registry.example.com/ebb:0.1.0": images.ebb };
const { configMap, volume, container: envoy } = envoySidecar({ upstreamPort: 8081 });

/** Commands that other tests run, by their first words: the file that does, and words in it. */
const elsewhere = {
  "helm install ebb ": ["test/cluster/chart/newcomer.test.ts", "helm install"],
  "  --set reaper.enabled": ["test/cluster/chart/newcomer.test.ts", "helm install"],
  "kubectl label namespace shop ": ["test/cluster/chart/newcomer.test.ts", "run(label"],
  "kubectl -n shop rollout restart ": ["test/cluster/chart/newcomer.test.ts", "run(restart"],
  "build/publish.sh ": ["test/build/publish.test.ts", "image and chart go into the registry"],
} as const;

const here = {
  job: blockWith("kind: Job"),
  deployment: blockWith("kind: Deployment"),
};

const manual = {
  cronJob: blockWith("kind: CronJob", "src/manual/inject.md"),
  webhook: blockWith(
    "ebb manifests webhook --image registry.example.com/ebb:0.1.0 | kubectl apply",
    "src/manual/webhook.md",
  ),
  reaperOnce: blockWith("ebb reaper --once --namespace shop --all-jobs --dry-run  ", "src/manual/reaper.md"),
  reaper: blockWith("ebb manifests reaper --image", "src/manual/reaper.md"),
};

/** The last line of the Job's log. */
const [, jobEnd = ""] =
  /`(ebb: done [^`]*)`/.exec(readFileSync(join(import.meta.dirname, "../../../README.md"), "utf8")) ?? [];

const known = new Set(Object.values(here).map(({ text }) => text));

test("each manifest and command of the README is run here, or where `elsewhere` says", () => {
  const others = blocks.filter(({ text }) => !known.has(text));
  expect(others.map(({ kind }) => kind)).not.toContain("manifest");
  const lines = others.flatMap(({ text }) => text.trim().split("\n"));
  const starts = Object.keys(elsewhere);
  expect(lines.filter((line) => !starts.some((start) => line.startsWith(start)))).toEqual([]);
  for (const [file, words] of Object.values(elsewhere)) {
    expect(readFileSync(join(import.meta.dirname, "..", "..", "..", file), "utf8")).toContain(words);
  }
});

describe("beside a real Istio", () => {
  beforeAll(startIstio, 300_000);

  test("the Job completes, and its log ends as the README's", async () => {
    await using own = await namespace();
    const job = withPod(
      Bun.YAML.parse(
        fill(here.job.text, {
          "registry.example.com/report": images.appInEbb,
          '"/my-app", "--month", "10"': '"/child", "exit", "0"',
        }),
      ) as KubeObject,
      ({ containers: [app], ...spec }) => ({
        ...spec,
        containers: [{ ...(app as object), name: "report", env: [{ name: "EBB_LOG_FORMAT", value: "text" }] }],
      }),
      sidecarKind(false),
    );
    await own.apply([job]);
    await own.until("the Job is complete", async () => hasCondition(await own.job("report"), "Complete"));
    const pod = await podOfJob(own, "report");
    const log = await own.logs(pod.metadata.name, "report");
    const [end = ""] = log
      .split("\n")
      .filter((line) => line.startsWith("ebb: "))
      .slice(-1);
    expect(withoutTimes(end)).toBe(withoutTimes(jobEnd));
    expect(jobEnd).toContain("exitCode=0");
  });

  test.each([true, false])(
    "the Deployment loses no request of a rolling restart, sidecar native: %p",
    async (isNative) => {
      await using own = await namespace({ "istio-injection": "enabled" });
      const { name, image, command, ...app } = programs.container("web", "server.ts", "0.0.0.0");
      const words = JSON.stringify(command).slice(1, -1);
      const web = withPod(
        Bun.YAML.parse(
          fill(here.deployment.text, {
            "registry.example.com/web": images.bunAndEbb,
            '"/my-server"': words,
          }),
        ) as KubeObject,
        ({ containers: [readme], ...spec }) => {
          const readinessProbe = { httpGet: { path: "/", port: 8081 }, periodSeconds: 1, ...patience };
          return { ...spec, containers: [{ ...app, ...readme, name, readinessProbe }], volumes: [programs.volume] };
        },
        sidecarKind(isNative),
      );
      await own.apply([loadPrograms, web, serviceOf("web", { http: 8081 })]);
      await own.kubectl("rollout", "status", "deployment/web", "--timeout=240s");
      const pod = await own.podOf("web");
      expect(await own.exec(pod.metadata.name, "web", "/ebb", "status")).toMatchObject({ code: 0 });
      const { losses, sent } = await restart(own, 8081, 8000);
      expect({ losses, sent: sent > 100 }).toEqual({ losses: [], sent: true });
    },
  );
});

describe("images that nobody wants to change", () => {
  let own: Namespace;
  let shop: Namespace;
  let shell: Shell;

  beforeAll(async () => {
    [own, shop] = await Promise.all([namespace(), namespace({}, "shop")]);
    shell = await startShell(own.name);
    for (const each of [own, shop]) await each.apply([configMap]);
  });

  afterAll(async () => {
    await shell?.tryRun(`ebb manifests webhook reaper --image ${images.ebb} | kubectl delete --ignore-not-found -f -`);
    await shell?.[Symbol.asyncDispose]();
    await shop?.[Symbol.asyncDispose]();
    await own?.[Symbol.asyncDispose]();
  }, 120_000);

  test("ebb inject in a pipeline", async () => {
    await mkdir(join(shell.folder, "manifests"));
    await writeFile(join(shell.folder, "manifests", "job.yaml"), Bun.YAML.stringify(stuckJob("piped", "0")));
    await shell.run(
      fill("ebb inject --all --image registry.example.com/ebb:0.1.0 -f manifests/ | kubectl apply -f -", ownImage),
    );
    await own.until("the Job is complete", async () => hasCondition(await own.job("piped"), "Complete"));
  });

  test("the webhook, a namespace that opts in, and the CronJob", async () => {
    const { stdout } = await shell.run(fill(manual.webhook.text, ownImage));
    expect(stdout).toContain("namespace/shop labeled");
    await shop.apply([stuckJob("labelled", "3")]);
    await shop.until("the Job has failed", async () => hasCondition(await shop.job("labelled"), "Failed"));
    expect(exitCodeOf(await podOfJob(shop, "labelled"), "app")).toBe(3);

    const cronJob = Bun.YAML.parse(
      fill(manual.cronJob.text, {
        "registry.example.com/vendor/invoices": images.app,
        '"/vendor/invoices"': '"/child"',
        '"--all"': '"exit", "0"',
      }),
    ) as { spec: { jobTemplate: { spec: { template: { spec: PodSpec } } } } };
    const { template } = cronJob.spec.jobTemplate.spec;
    template.spec = beside(template.spec);
    await own.apply([cronJob as unknown as KubeObject]);
    await own.kubectl("create", "job", "now", "--from=cronjob/invoices");
    await own.until("the Job is complete", async () => hasCondition(await own.job("now"), "Complete"));
    expect(statusOf(await podOfJob(own, "now"), "invoices")?.restartCount).toBe(0);
  }, 300_000);

  test("the reaper: once, without doing anything, then installed", async () => {
    const [once = ""] = manual.reaperOnce.text.split("\n");
    const [install = ""] = manual.reaper.text.split("\n");
    await shop.apply([withPod(stuckJob("stuck", "0"), (spec) => spec, { "ebb.dev/inject": "false" })]);
    const pod = await shop.podOf("stuck");
    await shop.until("its app has ended", async () => exitCodeOf(await shop.pod(pod.metadata.name), "app") === 0);
    const dry = await shop.until("it would be ended", async () => {
      const { stdout } = await shell.run(once);
      return /stuck-\S+ +would end/.test(stdout) && stdout;
    });
    expect(dry).toContain("shop");
    expect(exitCodeOf(await shop.pod(pod.metadata.name), "envoy")).toBeUndefined();
    await shell.run(fill(install, ownImage));
    await shop.kubectl("label", "namespace", shop.name, "ebb.dev/reap=true");
    await shop.until("the Job is complete", async () => hasCondition(await shop.job("stuck"), "Complete"));
  }, 300_000);

  test("ebb doctor has nothing to say of what was installed", async () => {
    expect(await shell.tryRun("ebb doctor -n shop")).toMatchObject({ code: 0, stderr: "" });
  });
});

/** Beside an ordinary sidecar, a real Envoy. */
function beside({ containers, ...spec }: PodSpec): PodSpec {
  return { ...spec, containers: [...containers, envoy], volumes: [volume] };
}

/** A Job whose app ends with this code, and whose sidecar stays without ebb. */
function stuckJob(name: string, code: string): KubeObject {
  return jobOf(name, beside({ containers: [{ name: "app", image: images.app, command: ["/child", "exit", code] }] }));
}

function podOfJob(own: Namespace, job: string): Promise<Pod> {
  return own.until(`a pod of ${job}`, async () => (await own.pods(`batch.kubernetes.io/job-name=${job}`))[0]);
}

/** Durations differ from run to run. */
function withoutTimes(line: string): string {
  return line.replace(/\d+(\.\d+)?(ms|s)\b/g, "TIME");
}

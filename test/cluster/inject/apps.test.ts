import { describe, expect, test } from "bun:test";
import { minorVersion } from "../api.ts";
import { images, type Namespace, namespace } from "../cluster.ts";
import { envoySidecar } from "../envoy.ts";
import {
  type Container,
  exitCodeOf,
  hasCondition,
  jobOf,
  type Pod,
  type PodSpec,
  podOf,
  statusOf,
} from "../objects.ts";
import { programs } from "../programs.ts";
import { applyInjected } from "./injected.ts";

// Pods with three apps beside a real Envoy, as `ebb inject` changes them: the last app that ends quits Envoy.

type Name = "a" | "b" | "c";

const names = ["a", "b", "c"] as const;
/** Before 1.35, the API server drops these rules. */
const hasRestartRules = (await minorVersion()) >= 35;
/** Each of them is the last once. */
const orders = [
  ["a", "b", "c"],
  ["b", "c", "a"],
  ["c", "a", "b"],
] as const;

const sidecar = envoySidecar({ upstreamPort: 8081 });
const worker = (name: string): Container => programs.container(name, "worker.ts");

/** A Job of three workers, of which the test says when each ends. */
class Work {
  readonly here: Namespace;
  readonly pod: string;

  private constructor(here: Namespace, pod: string) {
    this.here = here;
    this.pod = pod;
  }

  static async start(
    here: Namespace,
    restartPolicy: "Never" | "OnFailure",
    more: Partial<PodSpec> = {},
  ): Promise<Work> {
    const containers = [worker("a"), sidecar.container, worker("b"), worker("c")];
    const spec = { restartPolicy, containers, volumes: [sidecar.volume, programs.volume], ...more };
    await applyInjected(here, [
      sidecar.configMap,
      programs.configMap("worker.ts"),
      jobOf("work", spec, { backoffLimit: restartPolicy === "Never" ? 0 : 6 }),
    ]);
    const work = new Work(here, (await here.podOf("work")).metadata.name);
    for (const name of names) await work.works(name);
    return work;
  }

  /** Waits until an app runs: in its first life, or in a later one. */
  async works(name: Name, restarts = 0): Promise<void> {
    await this.here.until(`${name} works`, async () => {
      const isNext = statusOf(await this.now(), name)?.restartCount === restarts;
      return isNext && (await this.log(name)).includes("works\n");
    });
  }

  /** Ends an app with 0, or with 3, and waits until its container has ended. */
  async end(name: Name, code: 0 | 3 = 0): Promise<void> {
    const before = statusOf(await this.now(), name)?.restartCount ?? 0;
    const signal = code === 0 ? "SIGUSR1" : "SIGUSR2";
    await this.here.signal(this.pod, name, signal);
    await this.ended(name, before);
  }

  /** Waits until a life of an app has ended. */
  async ended(name: Name, restarts: number): Promise<void> {
    await this.here.until(`${name} has ended`, async () => {
      const status = statusOf(await this.now(), name);
      return status?.state.terminated !== undefined || (status?.restartCount ?? 0) > restarts;
    });
  }

  now(): Promise<Pod> {
    return this.here.pod(this.pod);
  }

  log(container: string): Promise<string> {
    return this.here.logs(this.pod, container);
  }

  /** Waits for the Job's end, and expects that all went right: no app was ever without Envoy, and the last one ended it. */
  async expectEnd(condition: "Complete" | "Failed", codes: Readonly<Record<Name, number>>): Promise<void> {
    await this.here.until(`it is ${condition}`, async () => hasCondition(await this.here.job("work"), condition));
    const pod = await this.now();
    const ends = Object.fromEntries([...names, "envoy"].map((name) => [name, exitCodeOf(pod, name)]));
    expect(ends).toEqual({ ...codes, envoy: 0 });
    expect(statusOf(pod, "envoy")?.restartCount).toBe(0);
    for (const name of names) expect(await this.log(name)).not.toContain("lost");
  }

  /** Kills the ebb of an app, and so all of its container, from the node. */
  async kill(name: Name): Promise<void> {
    const { uid = "" } = (await this.now()).metadata;
    const script = `
      const { readdirSync, readFileSync } = require("node:fs");
      const textOf = (pid, file) => { try { return readFileSync("/proc/" + pid + "/" + file, "utf8"); } catch { return ""; } };
      const found = readdirSync("/proc").filter((pid) =>
        /^\\\\d+$/.test(pid) &&
        textOf(pid, "cgroup").replaceAll("_", "-").includes("${uid}") &&
        textOf(pid, "environ").includes("EBB_LAST_OF=${name},") &&
        textOf(pid, "cmdline").startsWith("/ebb.dev/ebb"));
      console.log("found", found.length);
      for (const pid of found) process.kill(Number(pid), "SIGKILL");`;
    const command = ["/bun", "-e", script.replaceAll("\\\\", "\\")];
    const killer = { name: "killer", image: images.bun, command, securityContext: { privileged: true, runAsUser: 0 } };
    await this.here.apply([podOf("killer", { hostPID: true, containers: [killer] })]);
    await this.here.until("it has killed", async () => (await this.here.pod("killer")).status.phase === "Succeeded");
    expect(await this.here.logs("killer", "killer")).toBe("found 1\n");
  }
}

describe("a Job of three apps beside an ordinary sidecar, a real Envoy,", () => {
  test.concurrent.each(orders)(
    "completes when all have ended, in the order %s, %s, %s",
    async (first, second, last) => {
      await using here = await namespace();
      const work = await Work.start(here, "Never");
      for (const name of [first, second, last]) await work.end(name);
      await work.expectEnd("Complete", { a: 0, b: 0, c: 0 });
      expect(await work.log(first)).toContain("kept the sidecars running");
      expect(await work.log(second)).toContain(`--last-of: ${last} runs`);
      expect(await work.log(last)).not.toContain("kept the sidecars running");
    },
  );

  test.concurrent("fails with an app's own code, and not before the others have ended", async () => {
    await using here = await namespace();
    const work = await Work.start(here, "Never");
    await work.end("b", 3);
    for (const name of ["a", "c"] as const) await work.end(name);
    await work.expectEnd("Failed", { a: 0, b: 3, c: 0 });
  });

  test.concurrent("waits for an app that the kubelet starts again", async () => {
    await using here = await namespace();
    const work = await Work.start(here, "OnFailure");
    await work.end("b", 3);
    for (const name of ["a", "c"] as const) await work.end(name);
    await work.works("b", 1);
    await work.end("b");
    await work.expectEnd("Complete", { a: 0, b: 0, c: 0 });
  });

  test
    .skipIf(!hasRestartRules)
    .concurrent("waits for one that its restartPolicyRules start again, in a pod that starts none again", async () => {
      await using here = await namespace();
      const rule = { action: "Restart", exitCodes: { operator: "In", values: [3] } };
      const again = { ...worker("b"), restartPolicy: "Never", restartPolicyRules: [rule] };
      const work = await Work.start(here, "Never", {
        containers: [worker("a"), sidecar.container, again, worker("c")],
      });
      await work.end("b", 3);
      for (const name of ["a", "c"] as const) await work.end(name);
      await work.works("b", 1);
      await work.end("b");
      await work.expectEnd("Complete", { a: 0, b: 0, c: 0 });
    });

  test.concurrent.each(names)(
    "whose ebb in %s is killed, with restartPolicy Never: the others end it",
    async (name) => {
      await using here = await namespace();
      const work = await Work.start(here, "Never");
      await work.kill(name);
      await work.ended(name, 0);
      for (const other of names) if (other !== name) await work.end(other);
      await work.expectEnd("Failed", { a: 0, b: 0, c: 0, [name]: 137 });
    },
  );

  test.concurrent.each(names)("whose ebb in %s is killed, with OnFailure: its next life ends it", async (name) => {
    await using here = await namespace();
    const work = await Work.start(here, "OnFailure");
    await work.kill(name);
    for (const other of names) if (other !== name) await work.end(other);
    await work.works(name, 1);
    await work.end(name);
    await work.expectEnd("Complete", { a: 0, b: 0, c: 0 });
  });

  test.concurrent("completes where each has a user of its own, the pod an fsGroup, and somebody looks on", async () => {
    await using here = await namespace();
    const securityContext = { fsGroup: 4000, runAsNonRoot: true, runAsUser: 65532 };
    const users = [1000, 2000, 3000].map((runAsUser, at) => ({
      ...worker(names[at] as Name),
      securityContext: { runAsUser, runAsGroup: runAsUser, capabilities: { drop: ["ALL"] } },
    }));
    const work = await Work.start(here, "Never", { securityContext, containers: [...users, sidecar.container] });
    await here.kubectl(
      "debug",
      work.pod,
      "--image",
      images.app,
      "--container",
      "look",
      "--profile",
      "restricted",
      "--",
      "/child",
      "record",
    );
    await here.until("it looks", async () => (await work.log("look")).includes("ready\n"));
    for (const name of names) await work.end(name);
    await here.until("Envoy has ended", async () => exitCodeOf(await work.now(), "envoy") === 0);
    for (const name of names) expect(await work.log(name)).not.toContain("lost");
    expect((await work.now()).status.ephemeralContainerStatuses?.[0]?.state.running).toBeDefined();
  });

  test.concurrent("completes where the apps' images have nothing but the app", async () => {
    await using here = await namespace();
    const apps = names.map((name, at) => ({
      ...{ name, image: images.app, command: ["/child", "clock", "0", `${at * 500_000}`] },
      securityContext: { readOnlyRootFilesystem: true, runAsUser: 1000 + at },
    }));
    const spec = { containers: [...apps, sidecar.container], volumes: [sidecar.volume] };
    await applyInjected(here, [sidecar.configMap, jobOf("work", spec)]);
    await here.until("it is Complete", async () => hasCondition(await here.job("work"), "Complete"));
  });

  test.concurrent("goes on where ebb does not see an app's end, and nothing is quit under that app", async () => {
    await using here = await namespace();
    const unseen = { name: "c", image: images.app, args: ["record"] };
    const containers = [worker("a"), worker("b"), unseen, sidecar.container];
    const spec = { containers, volumes: [sidecar.volume, programs.volume], restartPolicy: "Never" } as const;
    const objects = [sidecar.configMap, programs.configMap("worker.ts"), jobOf("work", spec)];
    expect(await applyInjected(here, objects)).toMatch(
      /command of "c" is unknown: .*; so no ebb in this pod shuts down the sidecars/,
    );
    const pod = (await here.podOf("work")).metadata.name;
    for (const name of ["a", "b"]) {
      await here.until(`${name} works`, async () => (await here.logs(pod, name)).includes("works\n"));
      await here.signal(pod, name, "SIGUSR1");
      await here.until(`${name} has ended`, async () => exitCodeOf(await here.pod(pod), name) === 0);
      expect(await here.logs(pod, name)).toContain("kept the sidecars running");
    }
    const now = await here.pod(pod);
    expect([statusOf(now, "c")?.state.running, statusOf(now, "envoy")?.state.running]).not.toContain(undefined);
  });
});

describe("sidecars that ebb makes native", () => {
  test.concurrent("a real Envoy, and one that nothing can tell to quit, start before three apps and end after them", async () => {
    await using here = await namespace();
    const collector = { name: "collector", image: images.app, command: ["/child", "record"] };
    const spec: PodSpec = {
      restartPolicy: "Never",
      containers: [worker("a"), sidecar.container, worker("b"), collector, worker("c")],
      volumes: [sidecar.volume, programs.volume],
    };
    const job = jobOf("work", spec) as unknown as { spec: { template: { metadata: object } } };
    const annotations = { "ebb.dev/sidecars": "collector", "ebb.dev/native": "true" };
    job.spec.template.metadata = { ...job.spec.template.metadata, annotations };
    const said = await applyInjected(here, [sidecar.configMap, programs.configMap("worker.ts"), job as never]);
    expect(said).toContain("made collector, envoy native");
    const pod = (await here.podOf("work")).metadata.name;
    for (const name of names)
      await here.until(`${name} works`, async () => (await here.logs(pod, name)).includes("works\n"));
    for (const name of names) {
      await here.signal(pod, name, "SIGUSR1");
      await here.until(`${name} has ended`, async () => exitCodeOf(await here.pod(pod), name) === 0);
    }
    await here.until("it is Complete", async () => hasCondition(await here.job("work"), "Complete"));
    const now = await here.pod(pod);
    expect(now.status.initContainerStatuses?.map(({ name, restartCount }) => [name, restartCount])).toEqual([
      ["ebb-install", 0],
      ["collector", 0],
      ["envoy", 0],
    ]);
    for (const name of names) expect(await here.logs(pod, name)).not.toContain("lost");
  });
});

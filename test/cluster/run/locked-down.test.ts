import { describe, expect, test } from "bun:test";
import { logOf } from "../../harness/ebb.ts";
import { images, type Namespace, namespace } from "../cluster.ts";
import { envoySidecar, patientLook } from "../envoy.ts";
import { type Container, exitCodeOf, hasCondition, type PodSpec, podOf } from "../objects.ts";
import { installed, withEbb } from "../webhook/installed.ts";

const restricted = Object.fromEntries(
  ["enforce", "warn"].map((mode) => [`pod-security.kubernetes.io/${mode}`, "restricted"]),
);
const security = {
  readOnlyRootFilesystem: true,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
};
const podSecurity = {
  runAsNonRoot: true,
  runAsUser: 65532,
  runAsGroup: 65532,
  seccompProfile: { type: "RuntimeDefault" },
};
/** 16 MiB for all of the container: ebb, what it runs, and what is executed in it. */
const small = { limits: { memory: "16Mi", cpu: "200m" } };

const { configMap, volume, container } = envoySidecar({ upstreamPort: 8081, more: { securityContext: security } });
const drain = {
  lifecycle: { preStop: { exec: { command: [installed.path, "drain", "--min-drain", "1s", "--drain", "20s"] } } },
};
const envoy = withEbb(container, drain);

/** Room for what it writes to stay in the page cache, so that 16 MiB are enough to start from there. */
const install: Container = {
  ...installed.container,
  securityContext: security,
  resources: { limits: { memory: "128Mi" } },
};

function app(command: readonly string[], ...args: readonly string[]): Container {
  const words = { command: [installed.path, ...command], args, resources: small, securityContext: security };
  return withEbb({ name: "app", image: images.app, ...words });
}

async function start(here: Namespace, containers: readonly Container[], more: Partial<PodSpec> = {}): Promise<void> {
  const fixed = {
    securityContext: podSecurity,
    automountServiceAccountToken: false,
    volumes: [volume, installed.volume],
  };
  const pod = podOf("pod", { ...fixed, initContainers: [install], containers, ...more });
  const { code, stderr } = await here.tryApply([configMap, pod]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" }); // neither refused nor warned of
}

describe("Pod Security 'restricted', a read-only root, another user, no token, and 16 MiB, all at once:", () => {
  test.concurrent("ebb installs itself, waits, runs the command, reaps, and quits a real Envoy", async () => {
    await using here = await namespace(restricted);
    await start(here, [app(["run", ...patientLook, "--"], "/child", "orphans", "30", "37"), envoy]);
    await here.until("it has ended", async () => (await here.pod("pod")).status.phase === "Failed");
    const pod = await here.pod("pod");
    expect([exitCodeOf(pod, "install-ebb"), exitCodeOf(pod, "app"), exitCodeOf(pod, "envoy")]).toEqual([0, 37, 0]);
  });

  test.concurrent("a preStop hook in both containers drains Envoy, while `ebb run` lives beside it, and says so in the log", async () => {
    await using here = await namespace(restricted);
    const server = {
      ...app(["run", ...patientLook, "--restart-policy", "Always", "--"], "/child", "record"),
      ...drain,
    };
    await start(here, [server, envoy], { restartPolicy: "Always" });
    await here.until("it is ready", async () => hasCondition(await here.pod("pod"), "Ready"));
    await here.until("the app runs", async () => (await here.logs("pod", "app")).includes("ready\n"));
    const logs = ["app", "envoy"].map((name) => here.kubectl("logs", "--follow", "pod", "-c", name));
    await here.kubectl("delete", "pod", "pod", "--timeout=200s");
    const [ofApp, ofEnvoy] = (await Promise.all(logs)) as [string, string];
    for (const log of [ofApp, ofEnvoy]) {
      const drain = logOf(log).find(({ msg }) => msg === "ebb: drain ended");
      expect(drain?.outcome).toMatch(/^(drained$|Envoy (had )?exited )/);
    }
    expect(ofApp).toContain("\n15\n");
    expect(ofApp).toContain('"exitCode":0');
  });
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { sidecarKind } from "../cluster/istio/istio.ts";
import { collect, logOf, temporaryFolder } from "../harness/ebb.ts";
import { endsOf, images, type Mesh, startMesh } from "./mesh.ts";
import { python, pythonPackages } from "./python.ts";

// Airflow's KubernetesPodOperator, on this machine, whose pods are beside a real Istio, in a namespace that has ebb.

let mesh: Mesh;

beforeAll(async () => {
  mesh = await startMesh();
}, 300_000);

afterAll(async () => {
  await mesh?.[Symbol.asyncDispose]();
});

const cases = [0, 3].flatMap((code) =>
  [false, true].map((isNative) => ({ code, isNative, sidecar: isNative ? "a native sidecar" : "an ordinary sidecar" })),
);

describe("a task of Airflow's operator", () => {
  test.concurrent.each(cases)("ends with the code of base, $code, beside $sidecar", async ({ code, isNative }) => {
    const name = `task-${code}-${isNative ? "native" : "ordinary"}`;
    const { code: ended, returned, stderr } = await operate(name, code, isNative, { do_xcom_push: false });
    expect([ended, returned]).toEqual(code === 0 ? [0, "null"] : [1, undefined]);
    if (code !== 0) expect(stderr).toContain(`Pod ${name} returned a failure.`);
    await expectEnds(name, code, isNative);
  });

  test.concurrent.each(cases)(
    "gets the result of its pod, which then ends, if the code is 0: it is $code beside $sidecar",
    async ({ code, isNative }) => {
      const name = `xcom-${code}-${isNative ? "native" : "ordinary"}`;
      const { code: ended, returned } = await operate(name, code, isNative, { do_xcom_push: true });
      expect([ended, returned]).toEqual(code === 0 ? [0, '{"rows": 3}'] : [1, undefined]);
      await expectEnds(name, code, isNative);
      expect(endsOf(await mesh.here.pod(name))).toMatchObject({ "airflow-xcom-sidecar": 0 });
    },
  );

  test.concurrent("deletes its pod, unless it is told to keep it", async () => {
    const { code } = await operate("task-deleted", 0, false, { do_xcom_push: true, on_finish_action: "delete_pod" });
    expect(code).toBe(0);
    await mesh.here.until("the pod is gone", async () => !(await names()).includes("task-deleted"));
  });
});

async function names(): Promise<readonly string[]> {
  return (await mesh.here.pods()).map(({ metadata }) => metadata.name);
}

/** Expects that a pod has ended with its task's code, that the task has used the mesh, and that ebb has quit the sidecar. */
async function expectEnds(name: string, code: number, isNative: boolean): Promise<void> {
  const { here } = mesh;
  const phase = code === 0 ? "Succeeded" : "Failed";
  await here.until(`${name} has ended`, async () => /Succeeded|Failed/.test((await here.pod(name)).status.phase));
  const pod = await here.pod(name);
  expect(pod.status.phase).toBe(phase);
  expect(endsOf(pod)).toMatchObject({ base: code, "istio-proxy": 0 });
  const quits = logOf(await here.logs(name, "base")).filter(({ msg }) => msg === "ebb: asked the sidecar to exit");
  expect(quits).toHaveLength(isNative ? 0 : 1);
  expect(await mesh.requests(`/${name}`)).toEqual(["PUT mesh"]);
}

/** Runs the operator to its end. Its task asks the server in the mesh at once, writes its result, and ends; its pod is kept. */
async function operate(name: string, code: number, isNative: boolean, more: object) {
  using home = temporaryFolder();
  const task = `
    await fetch("${mesh.url}/${name}", { method: "PUT", body: "x" });
    await Bun.write("/airflow/xcom/return.json", '{"rows":3}');
    process.exit(${code});`;
  const operator = {
    ...{ task_id: name, name, namespace: mesh.here.name, random_name_suffix: false, on_finish_action: "keep_pod" },
    ...{ image: images.bun, cmds: ["/bun"], arguments: ["-e", task], annotations: sidecarKind(isNative) },
    startup_timeout_seconds: 240,
    ...more,
  };
  const extra = {
    in_cluster: false,
    kube_config_path: process.env.KUBECONFIG,
    xcom_sidecar_container_image: images.shell,
  };
  const env = {
    PATH: process.env.PATH,
    AIRFLOW_HOME: home.path,
    AIRFLOW_CONN_KUBERNETES_DEFAULT: JSON.stringify({ conn_type: "kubernetes", extra }),
    PYTHONPATH: pythonPackages("airflow"),
    PYTHONDONTWRITEBYTECODE: "1",
  };
  const program = join(import.meta.dirname, "python", "operate.py");
  const isolated = [python, "-S"]; // without this machine's own packages
  const child = Bun.spawn([...isolated, program, JSON.stringify(operator)], { env, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const ended = await child.exited;
  await Promise.all([stdout.done, stderr.done]);
  const [, returned] = /^returned (.*)$/m.exec(stdout.text()) ?? [];
  return { code: ended, returned, stderr: stderr.text() };
}

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sidecarKind } from "../cluster/istio/istio.ts";
import { type Container, exitCodeOf, type KubeObject, type Pod } from "../cluster/objects.ts";
import { podIn } from "../core/inject/orchestrators/golden.ts";
import { endsOf, images, type Mesh, startMesh } from "./mesh.ts";

// The pod that Airflow's KubernetesPodOperator makes, with images that are there and a command of ours, beside a real Istio,
// in a namespace that has ebb. The operator itself does not run: the test does what it does.

let mesh: Mesh;

beforeAll(async () => {
  mesh = await startMesh();
}, 300_000);

afterAll(async () => {
  await mesh?.[Symbol.asyncDispose]();
});

const XCOM = "airflow-xcom-sidecar";

/** What the operator writes to a shell in its XCom sidecar that has no pgrep: utils/pod_manager.py, extract_xcom_kill. */
const kill =
  "for f in /proc/[0-9]*/comm; do " +
  `[ -O $f ] && read c < $f && [ "$c" = "sh" ] && pid=\${f%/comm} && kill -2 \${pid##*/}; ` +
  "done\n";

const cases = [0, 3].flatMap((code) =>
  [false, true].map((isNative) => ({ code, isNative, sidecar: isNative ? "a native sidecar" : "an ordinary sidecar" })),
);

describe("a pod of Airflow's operator", () => {
  test.concurrent.each(cases)("ends with the code of base, $code, beside $sidecar", async ({ code, isNative }) => {
    const name = `task-${code}-${isNative ? "native" : "ordinary"}`;
    await mesh.here.apply([operatorsPod(name, code, isNative, { withXcom: false })]);
    expect(await phaseAtEnd(name)).toBe(code === 0 ? "Succeeded" : "Failed");
    expect(endsOf(await mesh.here.pod(name))).toMatchObject({ base: code, "istio-proxy": 0 });
    expect(await mesh.requests(`/${name}`)).toEqual(["PUT mesh"]);
  });

  test.concurrent.each(cases)(
    "leaves its result to the operator, and then ends, after code $code beside $sidecar",
    async ({ code, isNative }) => {
      const { here } = mesh;
      const name = `xcom-${code}-${isNative ? "native" : "ordinary"}`;
      await here.apply([operatorsPod(name, code, isNative, { withXcom: true })]);
      await here.until("base has ended", async () => exitCodeOf(await here.pod(name), "base") === code);
      if (!isNative)
        await here.until("ebb has quit the sidecar", async () => exitCodeOf(await here.pod(name), "istio-proxy") === 0);
      const read = await here.exec(name, XCOM, "/bin/sh", "-c", "cat /airflow/xcom/return.json");
      expect(read).toMatchObject({ code: 0, stdout: '{"rows":3}' });
      await here.tryKubectl(["exec", "-i", name, "-c", XCOM, "--", "/bin/sh"], { stdin: kill });
      expect(await phaseAtEnd(name)).toBe(code === 0 ? "Succeeded" : "Failed");
      expect(endsOf(await here.pod(name))).toMatchObject({ base: code, [XCOM]: 0, "istio-proxy": 0 });
      expect(await mesh.requests(`/${name}`)).toEqual(["PUT mesh"]);
    },
  );
});

async function phaseAtEnd(name: string): Promise<Pod["status"]["phase"]> {
  return await mesh.here.until(`${name} has ended`, async () => {
    const { phase } = (await mesh.here.pod(name)).status;
    return (phase === "Succeeded" || phase === "Failed") && phase;
  });
}

/** Returns the operator's pod. Its task asks the server in the mesh at once, writes its result, and ends. */
function operatorsPod(name: string, code: number, isNative: boolean, { withXcom }: { withXcom: boolean }): KubeObject {
  const { metadata, spec } = podIn("airflow-operator") as unknown as Pod;
  const task = `
    await fetch("${mesh.url}/${name}", { method: "PUT", body: "x" });
    await Bun.write("/airflow/xcom/return.json", '{"rows":3}');
    process.exit(${code});`;
  const ours: Readonly<Record<string, Partial<Container>>> = {
    base: { image: images.bun, command: ["/bun"], args: ["-e", task] },
    [XCOM]: { image: images.shell },
  };
  const { namespace: _, ...rest } = metadata;
  const containers = spec.containers
    .filter((container) => withXcom || container.name !== XCOM)
    .map((container) => ({ ...container, ...ours[container.name] }));
  return {
    ...{ apiVersion: "v1", kind: "Pod" },
    metadata: { ...rest, name, annotations: { ...metadata.annotations, ...sidecarKind(isNative) } },
    spec: { ...spec, containers },
  };
}

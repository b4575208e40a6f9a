import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sidecarKind } from "../cluster/istio/istio.ts";
import type { Pod } from "../cluster/objects.ts";
import { logOf } from "../harness/ebb.ts";
import { ended, endedPods, hasSignalled, startArgo, type Workflow, workflowOf } from "./argo.ts";
import { endsOf, images, type Mesh, startMesh } from "./mesh.ts";

// Argo Workflows with its own controller and argoexec, beside a real Istio, in a namespace that has ebb. Its artifacts go
// to a server in the mesh.

let mesh: Mesh;

beforeAll(async () => {
  mesh = await startMesh();
  await startArgo(mesh.here);
}, 300_000);

afterAll(async () => {
  await mesh?.[Symbol.asyncDispose]();
});

/** Argo's annotation with the command that it runs in the sidecar in place of a signal. */
const KILL = "workflows.argoproj.io/kill-cmd-istio-proxy";

const kinds = [
  ["an ordinary sidecar", false],
  ["a native one", true],
] as const;

describe("a workflow of two steps, the second of which takes the artifact of the first,", () => {
  test.concurrent.each(kinds)("completes beside %s", async (_, isNative) => {
    const { here } = mesh;
    const name = `steps-${isNative ? "native" : "ordinary"}`;
    await here.apply([
      workflowOf(
        name,
        sidecarKind(isNative),
        {
          name: "all",
          steps: [
            [{ name: "make", template: "make" }],
            [{ name: "use", template: "use", arguments: { artifacts: [{ name: "figures", from }] } }],
          ],
        },
        {
          name: "make",
          outputs: { artifacts: [saved("figures", name)] },
          container: script(`await put("${name}/asked", "x"); await Bun.write("/out/figures", "1 2 3");`),
        },
        {
          name: "use",
          inputs: { artifacts: [{ name: "figures", path: "/in/figures" }] },
          outputs: { artifacts: [saved("sum", name)] },
          container: script(
            `const sum = (await Bun.file("/in/figures").text()).split(" ").reduce((all, one) => all + Number(one), 0);
             await Bun.write("/out/sum", String(sum));`,
          ),
        },
      ),
    ]);
    expect((await ended(here, name)).status).toMatchObject({ phase: "Succeeded" });
    const pods = await endedPods(here, name);
    expect(pods.map(({ status }) => status.phase)).toEqual(["Succeeded", "Succeeded"]);
    for (const pod of pods) await expectEnds(pod, 0, isNative);
    expect(await mesh.requests(`/${name}/asked`)).toEqual(["PUT mesh"]);
    expect(await mesh.requests(`/${name}/figures`)).toEqual(["PUT mesh", `GET ${isNative ? "mesh" : "plain"}`]);
    expect(await mesh.requests(`/${name}/sum`)).toEqual(["PUT mesh"]);
  });
});

describe("a workflow whose main container fails", () => {
  test.concurrent.each(kinds)("fails with its code, and its artifact is saved, beside %s", async (_, isNative) => {
    const { here } = mesh;
    const name = `fails-${isNative ? "native" : "ordinary"}`;
    await here.apply([
      workflowOf(name, sidecarKind(isNative), {
        name: "all",
        outputs: { artifacts: [saved("why", name)] },
        container: script(`await Bun.write("/out/why", "because"); process.exit(3);`),
      }),
    ]);
    const { status } = await ended(here, name);
    expect(status?.phase).toBe("Failed");
    const [node] = Object.values(status?.nodes ?? {});
    expect(node).toMatchObject({ type: "Pod", phase: "Failed", outputs: { exitCode: "3" } });
    const [pod] = (await endedPods(here, name)) as [Pod];
    await expectEnds(pod, 3, isNative);
    expect(await mesh.requests(`/${name}/why`)).toEqual(["PUT mesh"]);
  });
});

describe("a template with two containers, and a sidecar of its own that Argo ends,", () => {
  test.concurrent.each(kinds)("completes when all have ended, beside %s", async (_, isNative) => {
    const { here } = mesh;
    const name = `set-${isNative ? "native" : "ordinary"}`;
    const first = { ...script(`await put("${name}/first", "x");`), name: "first" };
    const main = { ...script(`await put("${name}/main", "x"); await Bun.write("/out/all", "done");`), name: "main" };
    await here.apply([
      workflowOf(name, sidecarKind(isNative), {
        name: "all",
        volumes: [{ name: "out", emptyDir: {} }],
        outputs: { artifacts: [saved("all", name)] },
        containerSet: {
          volumeMounts: [{ name: "out", mountPath: "/out" }],
          containers: [first, { ...main, dependencies: ["first"] }],
        },
        sidecars: [{ ...script("setInterval(() => undefined, 1000);"), name: "cache" }],
      }),
    ]);
    expect((await ended(here, name)).status).toMatchObject({ phase: "Succeeded" });
    const [pod] = (await endedPods(here, name)) as [Pod];
    await expectEnds(pod, 0, isNative);
    expect(endsOf(pod)).toMatchObject({ first: 0, cache: expect.any(Number) });
    for (const path of ["first", "main", "all"]) expect(await mesh.requests(`/${name}/${path}`)).toEqual(["PUT mesh"]);
  });
});

describe("Argo signals an ordinary sidecar that `wait` still needs: an upload that the server answers late", () => {
  async function startUpload(name: string, annotations: Readonly<Record<string, string>>): Promise<void> {
    const http = { url: `${mesh.url}/${name}/late?held` };
    await mesh.here.apply([
      workflowOf(
        name,
        { ...sidecarKind(false), ...annotations },
        {
          name: "all",
          outputs: { artifacts: [{ ...saved("late", name), http }] },
          container: script(`await Bun.write("/out/late", "at last");`),
        },
      ),
    ]);
    const { here } = mesh;
    await here.until("`wait` uploads", async () => (await mesh.requests(`/${name}/late`)).length > 0, 240_000);
  }

  test.concurrent("is saved, whatever Argo does, with the annotation that ebb adds", async () => {
    const { here } = mesh;
    const name = "late-kept";
    await startUpload(name, {});
    await here.until("Argo has sent its last signal", () => hasSignalled(here, name, "istio-proxy", "killContainers"));
    expect(endsOf(await here.pod(name))).toMatchObject({ main: 0, wait: "running", "istio-proxy": "running" });
    await mesh.answer(`/${name}/late`);
    expect((await ended(here, name)).status).toMatchObject({ phase: "Succeeded" });
    const [pod] = (await endedPods(here, name)) as [Pod];
    await expectEnds(pod, 0, false);
    expect(await mesh.requests(`/${name}/late`)).toContain("PUT mesh");
    expect(await mesh.kept(`/${name}/late`)).toBe("at last");
  });

  test.concurrent("is lost with one that says what Argo does without", async () => {
    const { here } = mesh;
    const name = "late-lost";
    await startUpload(name, { [KILL]: '["/bin/sh", "-c", "kill -%d 1"]' });
    const message = expect.stringMatching(/^wait: Error .*\/late\?held": EOF/);
    expect((await ended(here, name)).status).toMatchObject({ phase: "Error", message });
    const [pod] = (await endedPods(here, name)) as [Pod];
    expect(endsOf(pod)).toMatchObject({ main: 0, wait: 64, "istio-proxy": 0 });
    await mesh.answer(`/${name}/late`);
    expect(await mesh.kept(`/${name}/late`)).toBeUndefined();
  });
});

describe("a workflow that is terminated", () => {
  test.concurrent.each(kinds)("ends, and nothing of it runs on, beside %s", async (_, isNative) => {
    const { here } = mesh;
    const name = `stopped-${isNative ? "native" : "ordinary"}`;
    await here.apply([
      workflowOf(name, sidecarKind(isNative), {
        name: "all",
        containerSet: { containers: [{ ...script("setInterval(() => undefined, 1000);"), name: "main" }] },
        sidecars: [{ ...script("setInterval(() => undefined, 1000);"), name: "cache" }],
      }),
    ]);
    // Argo signals the containers of which it knows that they run, and no others. Of those in a set its status tells that.
    await here.until("Argo knows that `main` runs", async () => (await phaseOf(name, "main")) === "Running", 240_000);
    await here.kubectl("patch", `workflow/${name}`, "--type=merge", "-p", '{"spec":{"shutdown":"Terminate"}}');
    expect((await ended(here, name)).status).toMatchObject({ phase: "Failed" });
    const [pod] = (await endedPods(here, name)) as [Pod];
    await expectEnds(pod, 143, isNative);
    expect(endsOf(pod)).toMatchObject({ cache: 143 });
  });
});

/** Resolves with the phase of a node, as Argo's status has it. */
async function phaseOf(workflow: string, node: string): Promise<string | undefined> {
  const { status } = await mesh.here.object<Workflow>(`workflow/${workflow}`);
  return Object.values(status?.nodes ?? {}).find(({ displayName }) => displayName === node)?.phase;
}

const from = "{{steps.make.outputs.artifacts.figures}}";

/** Returns a container that runs a script, which can PUT something to the server. */
function script(text: string): object {
  const put = `const put = (path, body) => fetch("${mesh.url}/" + path, { method: "PUT", body });`;
  return { image: images.bun, command: ["/bun", "-e", put + text] };
}

/** Returns an output artifact: the file in /out with this name. */
function saved(artifact: string, workflow: string): object {
  const http = { url: `${mesh.url}/${workflow}/${artifact}` };
  return { name: artifact, path: `/out/${artifact}`, archive: { none: {} }, http };
}

/** Expects that all of a pod's containers have ended right, and that one ebb, and nobody else, has quit the sidecar. */
async function expectEnds(pod: Pod, code: number, isNative: boolean): Promise<void> {
  expect(endsOf(pod)).toMatchObject({ main: code, wait: 0, "istio-proxy": 0 });
  expect(Object.values(endsOf(pod))).not.toContain("running");
  const logs = await Promise.all(
    ["main", "wait"].map(async (name) => logOf(await mesh.here.logs(pod.metadata.name, name))),
  );
  const quits = logs.flat().filter(({ msg }) => msg === "ebb: asked the sidecar to exit");
  expect(quits).toHaveLength(isNative ? 0 : 1);
  expect(pod.metadata.annotations?.[KILL]).toBe(isNative ? undefined : '["true"]');
}

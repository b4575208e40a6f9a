import { describe, expect, test } from "bun:test";
import { request } from "./api.ts";
import { images, type Namespace, namespace } from "./cluster.ts";
import { type Container, exitCodeOf, hasCondition, type PodSpec, podOf, serviceOf } from "./objects.ts";

// What the other tests take for granted.

describe("the cluster", () => {
  test.concurrent("leads to a Service's pod: another pod, the pod itself, the API server", async () => {
    await using here = await namespace();
    const server = bunPod('Bun.serve({ port: 8080, fetch: () => new Response("here") }); console.log("listens")');
    await here.apply([podOf("server", server, { labels: { app: "web" } }), serviceOf("web", { http: 8080 })]);
    await here.until("the server listens", async () => (await here.logs("server", "bun")).includes("listens"));
    const { spec } = await here.object<{ spec: { clusterIP: string } }>("service/web");
    const url = `http://${spec.clusterIP}:8080`;
    const ask = `console.log(await (await fetch("${url}")).text())`;
    const wait = `while (!(await fetch("${url}").catch(() => undefined))) await Bun.sleep(100);`; // kube-proxy may be later
    await here.apply([podOf("client", bunPod(`${wait} ${ask}`))]);
    expect(await saidAtItsEnd(here, "client")).toBe("here\n");
    expect(await here.exec("server", "bun", "/bun", "-e", ask)).toEqual({ code: 0, stdout: "here\n", stderr: "" });
    const path = `/api/v1/namespaces/${here.name}/services/web:8080/proxy/`;
    expect(await request("GET", path)).toEqual({ status: 200, text: "here" });
  });

  test.concurrent("tells a pod where the API server is, and who it is there", async () => {
    await using here = await namespace();
    const program = `
      const folder = "/var/run/secrets/kubernetes.io/serviceaccount";
      const [ca, token] = await Promise.all(["ca.crt", "token"].map((name) => Bun.file(folder + "/" + name).text()));
      const url = "https://" + process.env.KUBERNETES_SERVICE_HOST + "/apis/authentication.k8s.io/v1/selfsubjectreviews";
      const headers = { authorization: "Bearer " + token, "content-type": "application/json" };
      const body = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });
      const answer = await fetch(url, { method: "POST", headers, body, tls: { ca } });
      console.log((await answer.json()).status.userInfo.username);
    `;
    await here.apply([podOf("client", bunPod(program))]);
    expect(await saidAtItsEnd(here, "client")).toBe(`system:serviceaccount:${here.name}:default\n`);
  });

  test.concurrent("keeps Pod Security's promise", async () => {
    await using here = await namespace({ "pod-security.kubernetes.io/enforce": "restricted" });
    const { code, stderr } = await here.tryApply([podOf("root", { containers: [child("exit", "0")] })]);
    expect(code).toBe(1);
    expect(stderr).toContain('violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false');
  });

  test.concurrent("gives back what a command in a container said, and its exit code", async () => {
    await using here = await namespace();
    await here.apply([podOf("app", { containers: [child("record")] })]);
    await here.until("it runs", async () => hasCondition(await here.pod("app"), "Ready"));
    expect(await here.exec("app", "app", "/child", "arguments", "a b", "c")).toMatchObject({
      code: 0,
      stdout: "a b\nc\n",
    });
    expect(await here.exec("app", "app", "/child", "exit", "9")).toMatchObject({ code: 9, stdout: "" });
  });
});

test.concurrent("a test that waits in vain is told of pods, events and logs", async () => {
  await using here = await namespace();
  await here.apply([podOf("app", { containers: [child("record")] })]);
  await here.until("it runs", async () => (await here.logs("app", "app")).includes("ready"));
  const reason = await here.until("pigs fly", () => false, 1).catch(({ message }) => message);
  expect(reason).toStartWith("not within 1 ms: pigs fly\n");
  expect(reason).toMatch(/^app Running/m);
  expect(reason).toMatch(/^app Started: /m);
  expect(reason).toMatch(/^\[pod\/app\/app\] ready$/m);
});

function child(...args: readonly string[]): Container {
  return { name: "app", image: images.app, args };
}

function bunPod(program: string): PodSpec {
  return { containers: [{ name: "bun", image: images.bun, args: ["-e", program] }] };
}

/** What a pod of bunPod has written when it ends well. */
async function saidAtItsEnd(here: Namespace, pod: string): Promise<string> {
  await here.until(`${pod} has ended`, async () => exitCodeOf(await here.pod(pod), "bun") === 0);
  return await here.logs(pod, "bun");
}

import { describe, expect, test } from "bun:test";
import { applyPatch } from "rfc6902";
import { injectPod } from "../../../../src/cluster/inject/core/inject-pod.ts";
import { ownerOf, podNameOf, review } from "../../../../src/cluster/webhook/admission.ts";
import { bodyOf, bytes, envelope, notAsked, patchOf, pod, policy, request, reviewed } from "./reviewed.ts";

const unknownCommand = { ...pod, spec: { restartPolicy: "Never", containers: [{ name: "app", image: "app" }] } };
const inTheWay = { name: "app", command: ["/app"], volumeMounts: [{ name: "x", mountPath: "/ebb.dev" }] };
const refused = { ...pod, spec: { containers: [inTheWay] } };

describe("a new pod on its node's network, without a proxy of its own", () => {
  test.each([
    ["Job", "Never"],
    ["DaemonSet", "Always"],
  ])("of a %s gets nothing that finds one by its port, and its owner is told", (kind, restartPolicy) => {
    const metadata = { ...pod.metadata, ownerReferences: [{ kind, name: "web" }] };
    const object = { ...pod, metadata, spec: { ...pod.spec, hostNetwork: true, restartPolicy } };
    const { answer } = reviewed({ object });
    expect(answer.warnings).toEqual([expect.stringMatching(/^ebb: spec\.hostNetwork: .*finds none, and drains none/)]);
    const patched = structuredClone(object) as typeof object & { spec: { containers: object[] } };
    applyPatch(patched, patchOf(answer));
    expect(patched.spec.containers[0]).toMatchObject({ env: expect.arrayContaining([hostNetwork]) });
    expect(patched.spec.containers[0]).not.toHaveProperty("lifecycle");
  });

  const hostNetwork = { name: "EBB_HOST_NETWORK", value: "true" };
});

describe("a new pod", () => {
  test("that asks for it gets, by its patch, what ebb inject would make of it", () => {
    const { answer, response } = reviewed({});
    expect(answer).toMatchObject({ uid: request.uid, allowed: true, patchType: "JSONPatch" });
    expect(answer.auditAnnotations).toEqual({ injected: "app" });
    expect(response).toMatchObject({ result: "injected", containers: ["app"] });
    const patched = structuredClone(pod);
    applyPatch(patched, patchOf(answer));
    const injected = injectPod(pod, policy);
    expect(injected.kind).toBe("changed");
    expect(patched).toEqual((injected as unknown as { pod: typeof pod }).pod);
  });

  test("that was changed already is not changed again, so the API server may ask twice (reinvocationPolicy)", () => {
    const patched = structuredClone(pod);
    applyPatch(patched, patchOf(reviewed({}).answer));
    const { answer, response } = reviewed({ object: patched });
    expect([response.result, answer.allowed, answer.patch]).toEqual(["unchanged", true, undefined]);
  });

  test("that others have changed since keeps what they made of ebb-install, and of ebb's volumes", () => {
    const patched = structuredClone(pod) as unknown as { spec: Record<"initContainers" | "volumes", object[]> };
    applyPatch(patched, patchOf(reviewed({}).answer));
    const { initContainers, volumes } = patched.spec;
    const vault = { name: "vault", command: ["cp"] };
    const defaulted = { image: "mirror.example.com/ebb:1", imagePullPolicy: "Always", env: [{ name: "A" }] };
    initContainers.splice(0, 1, { ...initContainers[0], ...defaulted }, vault);
    volumes[0] = { ...volumes[0], emptyDir: { sizeLimit: "256Mi", medium: "Memory" } };
    expect(reviewed({ object: patched }).response.result).toBe("unchanged");
  });

  test("that asks for it and cannot have it is refused, with each field and why", () => {
    const { answer, response } = reviewed({ object: refused });
    expect(answer).toMatchObject({
      allowed: false,
      status: {
        status: "Failure",
        code: 422,
        reason: "Invalid",
        message: expect.stringMatching(/^ebb cannot be put into this pod: spec\.containers\[0\]\.volumeMounts/),
      },
    });
    expect(response.result).toBe("refused");
    expect(answer.patch).toBeUndefined();
  });

  test("whose command nobody knows is let in as it is, also if it asks", () => {
    const { answer, response } = reviewed({ object: unknownCommand });
    expect([answer.allowed, response.result]).toEqual([true, "skipped"]);
    expect(answer.warnings?.[0]).toStartWith("ebb: spec.containers[0].command: the pod is left as it is: ");
  });

  test("that was only taken with all others is let in as it is, with a warning", () => {
    const object = { ...unknownCommand, metadata: {} };
    const { answer, response } = reviewed({ object }, { all: true });
    expect([answer.allowed, response.result]).toEqual([true, "skipped"]);
    expect(answer.warnings?.[0]).toStartWith("ebb: spec.containers[0].command: the pod is left as it is: ");
  });

  describe("that was only taken with all others, and is left as it is,", () => {
    const object = { ...unknownCommand, metadata: { labels: { app: "a" } } };
    const why = {
      skipped: expect.stringMatching(/^spec\.containers\[0\]\.command: the command of "app" is unknown: /),
    };
    const after = (given: object) => {
      const patched = structuredClone(given) as typeof object & { metadata: { annotations: Record<string, string> } };
      applyPatch(patched, patchOf(reviewed({ object: given }, { all: true }).answer));
      return patched;
    };
    const statusOf = (given: object) => JSON.parse(after(given).metadata.annotations["ebb.dev/status"] ?? "");

    test("says so in its status, and in nothing else", () => {
      expect(statusOf(object)).toEqual(why);
      const { annotations, ...metadata } = after(object).metadata;
      expect([Object.keys(annotations), { ...after(object), metadata }]).toEqual([["ebb.dev/status"], object]);
    });

    test("keeps its annotations, also if it is too large to be looked at", () => {
      const many = Array.from({ length: 1001 }, (_, at) => ({ name: `v${at}` }));
      const large = { metadata: { annotations: { a: "b" } }, spec: { ...pod.spec, volumes: many } };
      expect(statusOf(large)).toEqual({ skipped: "spec.volumes: more than 1000 items" });
      expect(after(large).metadata.annotations.a).toBe("b");
    });

    test("is not changed again, and gets ebb once it can", () => {
      const skipped = after(object);
      expect(reviewed({ object: skipped }, { all: true }).answer.patch).toBeUndefined();
      const mended = after({ ...skipped, spec: pod.spec });
      expect(JSON.parse(mended.metadata.annotations["ebb.dev/status"] ?? "").containers).toHaveProperty("app");
      const out = after({
        ...skipped,
        metadata: { annotations: { ...skipped.metadata.annotations, "ebb.dev/inject": "false" } },
      });
      expect(out.metadata.annotations).toEqual({ "ebb.dev/inject": "false" });
    });

    test("gets no status that its annotations have no room for", () => {
      const annotations = { note: "a".repeat(256 * 1024 - 60) };
      const { answer, response } = reviewed({ object: { ...pod, metadata: { annotations } } }, { all: true });
      expect([answer.allowed, response.result, answer.patch]).toEqual([true, "skipped", undefined]);
    });

    test("gets no patch if it is no object", () => {
      const { answer, response } = reviewed({ object: null }, { all: true });
      expect([response.result, answer.patch]).toEqual(["skipped", undefined]);
    });

    test("keeps the status of what ebb inject has put there", () => {
      const status = '{"containers":{"app":{"command":"wrapped"}}}';
      const given = { ...refused, metadata: { annotations: { "ebb.dev/status": status } } };
      const { answer, response } = reviewed({ object: given }, { all: true });
      expect([response.result, answer.patch]).toEqual(["skipped", undefined]);
    });
  });

  test("that does not ask for it is let in as it is", () => {
    const { answer, response } = reviewed({ object: notAsked });
    expect(answer).toEqual({ uid: request.uid, allowed: true });
    expect(response.reason).toContain("ebb.dev/inject");
  });

  test("of a dry run is answered as any other", () => {
    expect(reviewed({ dryRun: true }).body).toBe(reviewed({}).body);
  });

  test("is known by its name, or by the start of it, and by its owner", () => {
    const named = { ...pod, metadata: { name: "web", ownerReferences: [{ kind: "Job", name: "web" }] } };
    expect([podNameOf(reviewed({}).request), podNameOf(reviewed({ name: "w" }).request)]).toEqual(["web-7c9f-*", "w"]);
    expect([podNameOf(reviewed({ object: named }).request), ownerOf(reviewed({ object: named }).request)]).toEqual([
      "web",
      "Job/web",
    ]);
  });

  test("is known by 253 characters", () => {
    const name = "w".repeat(300);
    const named = { ...pod, metadata: { name, ownerReferences: [{ kind: "Job", name }] } };
    const { request: asked } = reviewed({ object: named });
    expect(podNameOf(asked)).toBe(`${name.slice(0, 253)}… (47 more characters)`);
    expect(ownerOf(asked)).toBe(`Job/${name.slice(0, 249)}… (51 more characters)`);
  });
});

test("a pod that only its namespace took, with an option of ebb that cannot be read, is refused", () => {
  const object = { ...pod, metadata: { annotations: { "ebb.dev/drain": "abc" } } };
  const { answer, response } = reviewed({ object }, { all: true });
  expect([answer.allowed, response.result]).toEqual([false, "refused"]);
  expect(response.reason).toContain('got "abc"');
});

test.each([
  ["an update", { operation: "UPDATE", oldObject: pod }],
  ["a deletion", { operation: "DELETE", object: null, oldObject: pod }],
  ["an eviction", { subResource: "eviction", object: { kind: "Eviction" } }],
  ["another kind", { kind: { group: "apps", version: "v1", kind: "Deployment" } }],
  ["a Pod that is none of Kubernetes'", { kind: { group: "example.com", version: "v1", kind: "Pod" } }],
])("%s is let pass", (_, changes) => {
  const { answer, response } = reviewed(changes, { all: true });
  expect([answer.allowed, answer.patch, response.result]).toEqual([true, undefined, "unchanged"]);
});

test.each<[string, Uint8Array, string]>([
  ["nothing", bytes(""), "the body is not JSON"],
  ["half of JSON", bytes('{"kind":'), "the body is not JSON"],
  ["what is not UTF-8", Uint8Array.of(0x22, 0xff, 0x22), "the body is not UTF-8"],
  ["a list", bytes("[]"), "expected an AdmissionReview"],
  ["null", bytes("null"), "expected an AdmissionReview"],
  ["nothing of a review", bytes("{}"), "apiVersion: expected admission.k8s.io/v1"],
  [
    "an older version",
    bytes(JSON.stringify({ ...envelope, apiVersion: "admission.k8s.io/v1beta1", request })),
    "apiVersion: expected admission.k8s.io/v1",
  ],
  ["another kind", bytes(JSON.stringify({ ...envelope, kind: "Pod", request })), "kind: expected AdmissionReview"],
  ["no request", bytes(JSON.stringify(envelope)), "request: expected an AdmissionRequest"],
  ["no uid", bodyOf({ uid: "" }), "request.uid: expected an identifier"],
  ["a uid that is no text", bodyOf({ uid: 1 }), "request.uid: expected text"],
  ["a uid that is none", bodyOf({ uid: "x".repeat(254) }), "request.uid: expected at most 253 characters"],
  ["no kind", bodyOf({ kind: null }), "request.kind: expected a group, a version and a kind"],
  ["an odd dry run", bodyOf({ dryRun: "yes" }), "request.dryRun: expected true or false"],
])("%s is no AdmissionReview, and it is said why", (_, body, problem) => {
  expect(review(body, policy)).toEqual({ problem: expect.stringContaining(problem) });
});

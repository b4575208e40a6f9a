import { describe, expect, test } from "bun:test";
import { applyPatch, type Operation } from "rfc6902";
import { injectPod } from "../../../src/core/inject/patch.ts";
import type { InjectPolicy } from "../../../src/core/inject/policy.ts";
import { nameOf, ownerOf } from "../../../src/kube/webhook/admission.ts";
import { type Review, review } from "../../../src/kube/webhook/review.ts";

const policy: InjectPolicy = {
  image: "registry.example.com/ebb:1",
  all: false,
  volume: "emptyDir",
  options: new Map(),
  entrypoints: new Map(),
};

const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { generateName: "web-7c9f-", annotations: { "ebb.dev/inject": "true" } },
  spec: { containers: [{ name: "app", image: "app", command: ["/app", "--port", "80"] }] },
};
const unknownCommand = { ...pod, spec: { containers: [{ name: "app", image: "app" }] } };
const notAsked = { ...pod, metadata: { name: "web" } };

const request = {
  uid: "705ab4f5-6393-11e8-b7cc-42010a800002",
  kind: { group: "", version: "v1", kind: "Pod" },
  resource: { group: "", version: "v1", resource: "pods" },
  namespace: "shop",
  operation: "CREATE",
  object: pod as unknown,
  dryRun: false,
};
const envelope = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" };

const bytes = (text: string) => new TextEncoder().encode(text);
const bodyOf = (changes: object) => bytes(JSON.stringify({ ...envelope, request: { ...request, ...changes } }));

function reviewed(changes: object, more: Partial<InjectPolicy> = {}): Review & { readonly answer: Answer } {
  const result = review(bodyOf(changes), { ...policy, ...more });
  if ("problem" in result) throw new Error(result.problem);
  return { ...result, answer: JSON.parse(result.body).response };
}

interface Answer {
  readonly uid: string;
  readonly allowed: boolean;
  readonly patchType?: string;
  readonly patch?: string;
  readonly warnings?: readonly string[];
  readonly status?: { readonly message: string; readonly code: number };
  readonly auditAnnotations?: object;
}

function patchOf({ patch = "" }: Answer): Operation[] {
  return JSON.parse(Buffer.from(patch, "base64").toString());
}

describe("a new pod on its node's network, without a proxy of its own", () => {
  test.each([
    ["Job", "Never"],
    ["DaemonSet", "Always"],
  ])("of a %s gets nothing that finds one by its port, and its owner is told", (kind, restartPolicy) => {
    const metadata = { ...pod.metadata, ownerReferences: [{ kind, name: "web" }] };
    const object = { ...pod, metadata, spec: { ...pod.spec, hostNetwork: true, restartPolicy } };
    const { answer } = reviewed({ object });
    expect(answer.warnings).toEqual([expect.stringMatching(/^ebb: spec\.hostNetwork: .*no drain hook/)]);
    const patched = structuredClone(object) as typeof object & { spec: { containers: object[] } };
    applyPatch(patched, patchOf(answer));
    expect(patched.spec.containers[0]).toMatchObject({ env: expect.arrayContaining([hostNetwork]) });
    expect(patched.spec.containers[0]).not.toHaveProperty("lifecycle");
  });

  const hostNetwork = { name: "EBB_HOST_NETWORK", value: "true" };
});

describe("a new pod", () => {
  test("that asks for it gets, by its patch, what ebb inject would make of it", () => {
    const { answer, decision } = reviewed({});
    expect(answer).toMatchObject({ uid: request.uid, allowed: true, patchType: "JSONPatch" });
    expect(answer.auditAnnotations).toEqual({ injected: "app" });
    expect(decision).toMatchObject({ result: "injected", containers: ["app"] });
    const patched = structuredClone(pod);
    applyPatch(patched, patchOf(answer));
    const injected = injectPod(pod, policy);
    expect(injected.kind).toBe("changed");
    expect(patched).toEqual((injected as unknown as { pod: typeof pod }).pod);
  });

  test("that was changed already is not changed again, so the API server may ask twice (reinvocationPolicy)", () => {
    const patched = structuredClone(pod);
    applyPatch(patched, patchOf(reviewed({}).answer));
    const { answer, decision } = reviewed({ object: patched });
    expect([decision.result, answer.allowed, answer.patch]).toEqual(["unchanged", true, undefined]);
  });

  test("that asks for it and cannot have it is refused, with each field and why", () => {
    const { answer, decision } = reviewed({ object: unknownCommand });
    expect(answer).toMatchObject({
      allowed: false,
      status: {
        status: "Failure",
        code: 422,
        reason: "Invalid",
        message: expect.stringMatching(/^ebb cannot be put into this pod: spec\.containers\[0\]\.command: /),
      },
    });
    expect(decision.result).toBe("refused");
    expect(answer.patch).toBeUndefined();
  });

  test("that was only taken with all others is let in as it is, with a warning", () => {
    const object = { ...unknownCommand, metadata: {} };
    const { answer, decision } = reviewed({ object }, { all: true });
    expect([answer.allowed, answer.patch, decision.result]).toEqual([true, undefined, "skipped"]);
    expect(answer.warnings?.[0]).toStartWith("ebb: spec.containers[0].command: the pod is left as it is: ");
  });

  test("that does not ask for it is let in as it is", () => {
    const { answer, decision } = reviewed({ object: notAsked });
    expect(answer).toEqual({ uid: request.uid, allowed: true });
    expect(decision.reason).toContain("ebb.dev/inject");
  });

  test("of a dry run is answered as any other", () => {
    expect(reviewed({ dryRun: true }).body).toBe(reviewed({}).body);
  });

  test("is known by its name, or by the start of it, and by its owner", () => {
    const named = { ...pod, metadata: { name: "web", ownerReferences: [{ kind: "Job", name: "web" }] } };
    expect([nameOf(reviewed({}).request), nameOf(reviewed({ name: "w" }).request)]).toEqual(["web-7c9f-*", "w"]);
    expect([nameOf(reviewed({ object: named }).request), ownerOf(reviewed({ object: named }).request)]).toEqual([
      "web",
      "Job/web",
    ]);
  });
});

test.each([
  ["an update", { operation: "UPDATE", oldObject: pod }],
  ["a deletion", { operation: "DELETE", object: null, oldObject: pod }],
  ["an eviction", { subResource: "eviction", object: { kind: "Eviction" } }],
  ["another kind", { kind: { group: "apps", version: "v1", kind: "Deployment" } }],
  ["a Pod that is none of Kubernetes'", { kind: { group: "example.com", version: "v1", kind: "Pod" } }],
])("%s is let pass", (_, changes) => {
  const { answer, decision } = reviewed(changes, { all: true });
  expect([answer.allowed, answer.patch, decision.result]).toEqual([true, undefined, "unchanged"]);
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
  ["no kind", bodyOf({ kind: null }), "request.kind: expected a group, a version and a kind"],
  ["an odd dry run", bodyOf({ dryRun: "yes" }), "request.dryRun: expected true or false"],
])("%s is no AdmissionReview, and it is said why", (_, body, problem) => {
  expect(review(body, policy)).toEqual({ problem: expect.stringContaining(problem) });
});

describe("a hostile pod", () => {
  const raw = (object: string) => bytes(JSON.stringify({ ...envelope, request }).replace(JSON.stringify(pod), object));
  const json = JSON.stringify(pod);
  const [app] = pod.spec.containers;

  test.each(['{"a":', "["])("nested 50,000 times (%s) is refused, wherever that is", (open) => {
    const deep = open.repeat(50_000) + (open === "[" ? "" : "1") + (open === "[" ? "]" : "}").repeat(50_000);
    for (const [object, message] of [
      [json.replace('"spec":', `"deep":${deep},"spec":`), "deep"],
      [json.replace('"name":"app"', `"name":"app","deep":${deep}`), "spec.containers[0]"],
    ] as const) {
      const result = review(raw(object), policy) as Review;
      expect(result.decision.response).toMatchObject({ allowed: false });
      expect(result.decision.reason).toMatch(message);
      expect(result.decision.reason).toEndWith(": deeper than 100 levels");
    }
    expect("problem" in review(raw(deep), { ...policy, all: true })).toBe(false);
  });

  test.each([
    ["nested half a million times", `${"[".repeat(500_000)}${"]".repeat(500_000)}`],
    ["with a list of half a million lists", `[${"[],".repeat(500_000)}1]`],
    ["with a million empty fields", `{${'"a":"",'.repeat(500_000)}"b":1}`],
  ])("%s is not even parsed: once it is, each may cost a hundred bytes", (_, object) => {
    expect(review(raw(object), policy)).toEqual({
      problem: "the body has more than 400000 characters outside of strings",
    });
  });

  test("with a million brackets in a text is like any other", () => {
    const env = [{ name: "A", value: '\\"[{,'.repeat(200_000) }];
    const object = { ...pod, spec: { containers: [{ ...app, env }] } };
    expect(reviewed({ object }).decision.result).toBe("injected");
  });

  test.each(["__proto__", "constructor", "toString"])(
    "with fields called %s changes nothing but its answer",
    (name) => {
      const fields = `"${name}":{"polluted":true},`;
      const object = json.replaceAll(/\{(?!"ebb)/g, `{${fields}`);
      const result = review(raw(object), { ...policy, all: true });
      expect("problem" in result).toBe(false);
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
      if ("body" in result) expect(patchOf(JSON.parse(result.body).response)).not.toEqual([]);
    },
  );

  test("with numbers that JavaScript cannot hold keeps them: they are in no operation", () => {
    const huge = '"securityContext":{"runAsUser":9007199254740993},"huge":1e999,';
    const object = json
      .replace('"name":"app"', `${huge}"env":[{"name":"A","value":"","n":9007199254740993}],"name":"app"`)
      .replace(
        '"containers"',
        `"activeDeadlineSeconds":9007199254740993,"volumes":[{"name":"v","n":9007199254740993}],"containers"`,
      );
    const result = review(raw(object), policy) as Review;
    const patch = JSON.stringify(patchOf(JSON.parse(result.body).response));
    expect(patch).toContain("ebb");
    expect(patch).not.toContain("900719925474099");
    expect(patch).not.toContain("null");
  });

  const many = (of: (at: number) => object) => Array.from({ length: 5000 }, (_, at) => of(at));

  test.each<[string, object]>([
    ["spec.containers", { containers: many((at) => ({ ...app, name: `c${at}` })) }],
    ["spec.volumes", { ...pod.spec, volumes: many((at) => ({ name: `v${at}`, emptyDir: {} })) }],
    ["spec.containers[0].env", { containers: [{ ...app, env: many((at) => ({ name: `V${at}`, value: "" })) }] }],
  ])("with 5,000 items in %s is refused, unless it does not ask", (field, spec) => {
    const { answer } = reviewed({ object: { ...pod, spec } });
    expect(answer.status?.message).toBe(`ebb cannot be put into this pod: ${field}: more than 1000 items`);
    expect(reviewed({ object: { ...notAsked, spec } }).decision.result).toBe("unchanged");
    expect(reviewed({ object: { ...notAsked, spec } }, { all: true }).decision.result).toBe("skipped");
  });

  test("with much to say of it is told 10,000 characters", () => {
    const containers = Array.from({ length: 500 }, (_, at) => ({ name: `c${at}`, image: "i".repeat(5000) }));
    const { answer, decision } = reviewed({ object: { ...pod, spec: { containers } } });
    expect(answer.status?.message).toMatch(/^ebb cannot be put into this pod: .*… \(\d+ more characters\)$/);
    expect(answer.status?.message.length).toBeLessThan(10_100);
    expect(decision.reason?.length).toBeLessThan(10_050);
  });

  test("with 1,000 containers is answered", () => {
    const containers = Array.from({ length: 1000 }, (_, at) => ({ ...app, name: `c${at}` }));
    expect(reviewed({ object: { ...pod, spec: { containers } } }).decision.result).not.toBe("unchanged");
  });
});

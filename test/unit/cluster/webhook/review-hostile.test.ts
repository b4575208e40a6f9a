import { describe, expect, test } from "bun:test";
import { type Reviewed, review } from "../../../../src/cluster/webhook/admission.ts";
import { bytes, envelope, notAsked, patchOf, pod, policy, request, reviewed } from "./reviewed.ts";

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
      const result = review(raw(object), policy) as Reviewed;
      expect(result.response).toMatchObject({ allowed: false });
      expect(result.response.reason).toMatch(message);
      expect(result.response.reason).toEndWith(": deeper than 100 levels");
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
    expect(reviewed({ object }).response.result).toBe("injected");
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
    const result = review(raw(object), policy) as Reviewed;
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
    expect(reviewed({ object: { ...notAsked, spec } }).response.result).toBe("unchanged");
    expect(reviewed({ object: { ...notAsked, spec } }, { all: true }).response.result).toBe("skipped");
  });

  test("with much to say of it is told 10,000 characters", () => {
    const long = Object.fromEntries(
      ["drain", "grace", "min-drain"].map((flag) => [`ebb.dev/${flag}`, "x".repeat(4000)]),
    );
    const annotations = { ...pod.metadata.annotations, ...long };
    const { answer, response } = reviewed({ object: { ...pod, metadata: { annotations } } });
    expect(answer.status?.message).toMatch(/^ebb cannot be put into this pod: .*… \(\d+ more characters\)$/);
    expect(answer.status?.message.length).toBeLessThan(10_100);
    expect(response.reason?.length).toBeLessThan(10_050);
  });

  test("with a value that nobody would write is told how long it may be", () => {
    const annotations = { ...pod.metadata.annotations, "ebb.dev/quit": "http://localhost:1/,".repeat(1000) };
    expect(reviewed({ object: { ...pod, metadata: { annotations } } }).response).toMatchObject({
      result: "refused",
      reason: "metadata.annotations[ebb.dev/quit]: expected at most 4096 characters, got 20000",
    });
  });

  const long = "x".repeat(600_000);
  const spec = (container: object, more: object = {}) => ({
    ...pod,
    spec: { containers: [{ ...app, ...container }], ...more },
  });
  const metadata = (more: object) => ({ ...pod, metadata: { ...pod.metadata, ...more } });

  test.each<[string, object]>([
    ["spec.containers[0].image", spec({ image: long })],
    ["spec.containers[0].env[0].name", spec({ env: [{ name: long, value: "" }] })],
    ["spec.containers[0].volumeMounts[0].mountPath", spec({ volumeMounts: [{ name: "v", mountPath: long }] })],
    ["spec.nodeSelector.kubernetes.io/os", spec({}, { nodeSelector: { "kubernetes.io/os": long } })],
    ["spec.xxx", spec({}, { [long]: 1 })],
    ["metadata.labels.ebb.dev/xxx", metadata({ labels: { [`ebb.dev/${long}`]: "" } })],
    ["metadata.generateName", metadata({ generateName: long })],
  ])("with 600,000 characters in %s is refused, in few words", (field, object) => {
    const { response, body } = reviewed({ object });
    expect(response.result).toBe("refused");
    expect(response.reason).toStartWith(field);
    expect(response.reason).toEndWith(
      "with this, the pod has more than 512 KiB beside its annotations, commands, args and values",
    );
    expect(body.length).toBeLessThan(1000);
    const of = { metadata: { ...(object as typeof pod).metadata, annotations: {} } };
    expect(reviewed({ object: { ...object, ...of } }).response.result).toBe("unchanged");
    expect(reviewed({ object: { ...object, ...of } }, { all: true }).response.result).toBe("skipped");
  });

  test.each<[string, object]>([
    ["a command", spec({ command: ["/app", long] })],
    ["args", spec({ args: [long] })],
    ["a variable", spec({ env: [{ name: "A", value: long }] })],
    ["a probe", spec({ livenessProbe: { exec: { command: [long] } } })],
    ["what the API server knows of its fields", metadata({ managedFields: [{ fieldsV1: { [long]: {} } }] })],
  ])("may have 600,000 characters in %s", (_, object) => {
    const { response, body } = reviewed({ object });
    expect(response.result).toBe("injected");
    expect(body.length).toBeLessThan(4000);
  });

  test("with more than 512 KiB of short texts and values is refused where that is reached", () => {
    const reasonOf = (length: number) => {
      const containers = many((at) => ({
        ...app,
        name: `c${at}`,
        env: many((one) => ({ name: `V${one}` })).slice(0, 900),
      }));
      return reviewed({ object: spec({}, { containers: containers.slice(0, length) }) }).response.reason;
    };
    expect(reasonOf(5)).toBeUndefined();
    expect(reasonOf(50)).toMatch(/^spec\.containers\[\d+\]\.env\[\d+\].*: with this, the pod has more than 512 KiB /);
  });

  test("may have an image's name of 780 characters, and no more", () => {
    const reasonOf = (length: number) => reviewed({ object: spec({ image: "x".repeat(length) }) }).response.reason;
    expect(reasonOf(780)).toBeUndefined();
    expect(reasonOf(781)).toStartWith("spec.containers[0].image: expected at most 780 characters, got ");
  });

  test("whose path of its annotations would be repeated in each container is refused", () => {
    const items = [{ path: long.slice(0, 4097), fieldRef: { fieldPath: "metadata.annotations" } }];
    const object = spec({}, { volumes: [{ name: "v", downwardAPI: { items } }] });
    const reason = "spec.volumes[0].downwardAPI.items[0].path: expected at most 4096 characters";
    expect(reviewed({ object }).response.reason).toStartWith(reason);
  });

  test.each(["containers", "initContainers"])("may have 100 %s, and no more", (list) => {
    const resultOf = (length: number) => {
      const items = Array.from({ length }, (_, at) => ({ ...app, name: `c${at}` }));
      return reviewed({ object: { ...pod, spec: { ...pod.spec, [list]: items } } }).response;
    };
    expect(resultOf(100)).toMatchObject({ result: "injected" });
    expect(resultOf(101)).toMatchObject({ result: "refused", reason: `spec.${list}: more than 100 items` });
  });
});

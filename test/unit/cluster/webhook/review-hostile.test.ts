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

  test.each(["containers", "initContainers"])("may have 100 %s, and no more", (list) => {
    const resultOf = (length: number) => {
      const items = Array.from({ length }, (_, at) => ({ ...app, name: `c${at}` }));
      return reviewed({ object: { ...pod, spec: { ...pod.spec, [list]: items } } }).response;
    };
    expect(resultOf(100)).toMatchObject({ result: "injected" });
    expect(resultOf(101)).toMatchObject({ result: "refused", reason: `spec.${list}: more than 100 items` });
  });
});

import { expect, test } from "bun:test";
import fc from "fast-check";
import { injectPod } from "../../../../src/cluster/inject/core/inject-pod.ts";
import { formatWarnings } from "../../../../src/cluster/webhook/admission-review.ts";
import { app, type Given, podOf, policy } from "../inject/core/injection.ts";

const remark = (message: string, field = "spec") => ({ field, message });

test("a warning names who warns, the field, and what is wrong", () => {
  expect(formatWarnings([remark("it is odd", "metadata.annotations[ebb.dev/dran]")])).toEqual([
    "ebb: metadata.annotations[ebb.dev/dran]: it is odd",
  ]);
});

test("equal warnings are one, and control characters, with which the API server drops a warning, are escaped", () => {
  expect(formatWarnings([remark("a\nb\u0000c"), remark("a\nb\u0000c"), remark("d")])).toEqual([
    "ebb: spec: a\\nb\\u0000c",
    "ebb: spec: d",
  ]);
});

test("a long warning is cut, many are counted", () => {
  const [cut] = formatWarnings([remark("x".repeat(1000))]);
  expect(cut).toHaveLength(256);
  expect(cut).toEndWith("x…");
  const many = Array.from({ length: 50 }, (_, at) => remark(`${at} `.padEnd(1000, "y")));
  expect(formatWarnings(many)).toHaveLength(16);
  expect(formatWarnings(many).at(-1)).toBe("ebb: 35 more warnings");
});

test.each<[string, Given, RegExp]>([
  [
    "an unknown command",
    { containers: [{ name: "a", image: "registry.example.com/team/a:1" }, app()], spec: { restartPolicy: "Never" } },
    /set command here, or ebb\.dev\/entrypoint\.a, .*; or name it in ebb\.dev\/sidecars/,
  ],
  [
    "Linkerd",
    { annotations: { "linkerd.io/inject": "enabled" }, spec: { restartPolicy: "Never" } },
    /proxy-admin-shutdown: enabled \(other ways: ebb help sidecars\)$/,
  ],
  [
    "a long sleep",
    { containers: [app({ lifecycle: { preStop: { sleep: { seconds: 600 } } } })] },
    /terminationGracePeriodSeconds leaves 24s for a drain: raise that, or remove this hook; until then ebb run drains only after it, for 500ms at most/,
  ],
])("a warning that is cut has said what to do: %s", (_, given, remedy) => {
  const { warnings } = injectPod(podOf(given), policy);
  expect(formatWarnings(warnings)).toContainEqual(expect.stringMatching(remedy));
});

test("any warnings are within the API server's limits", () => {
  const remarks = fc.array(fc.record({ field: fc.string(), message: fc.string({ unit: "binary", maxLength: 400 }) }), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(remarks, (given) => {
      const texts = formatWarnings(given);
      expect(texts.every((text) => text.length <= 256 && text.isWellFormed() && !/\p{Cc}/u.test(text))).toBe(true);
      expect(texts.join("").length).toBeLessThanOrEqual(4096);
      expect(texts.length > 0).toBe(given.length > 0);
    }),
  );
});

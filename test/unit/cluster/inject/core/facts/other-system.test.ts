import { expect, test } from "bun:test";
import { injectPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import { app, changed, policy, refusal } from "../injection.ts";

const needs = (...nodeSelectorTerms: readonly object[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const term = (key: string, operator: string, values?: readonly string[]) => ({
  matchExpressions: [
    { key: "zone", operator: "In", values: ["a"] },
    { key, operator, values },
  ],
});
const ofTerm =
  "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[1]";

test.each<[string, object, string, string]>([
  ["spec.os", { os: { name: "windows" } }, "spec.os.name", "for Windows"],
  [
    "a process of the host",
    { securityContext: { windowsOptions: { hostProcess: true } } },
    "spec.securityContext.windowsOptions.hostProcess",
    "for Windows",
  ],
  ...(
    [
      ["kubernetes.io/os", "windows", "for Windows"],
      ["beta.kubernetes.io/os", "windows", "for Windows"],
      ["kubernetes.io/arch", "s390x", "for s390x"],
      ["beta.kubernetes.io/arch", "arm", "for arm"],
    ] as const
  ).flatMap(([label, value, where]): [string, object, string, string][] => [
    [`the node selector ${label}`, { nodeSelector: { [label]: value } }, `spec.nodeSelector[${label}]`, where],
    [`the node affinity ${label}`, needs(term(label, "In", [value])), ofTerm, where],
  ]),
  [
    "one of several others",
    needs(term("kubernetes.io/arch", "In", ["ppc64le", "s390x"])),
    ofTerm,
    "for ppc64le, s390x",
  ],
  [
    "each of its terms",
    needs(term("kubernetes.io/os", "In", ["windows"]), term("kubernetes.io/arch", "In", ["s390x"])),
    ofTerm,
    "for Windows",
  ],
  ["what it excludes", needs(term("kubernetes.io/arch", "NotIn", ["amd64", "arm64"])), ofTerm, "not for amd64, arm64"],
])("a pod for another system, by %s, is refused; with --all alone it is left alone", (_, spec, field, where) => {
  const own = where === "for Windows" ? "Linux" : "amd64 and arm64";
  const message = `ebb is for ${own}, and this pod is ${where}`;
  expect(refusal({ spec })).toEqual([[field, message]]);
  const pod = { spec: { containers: [app()], ...spec } };
  expect(injectPod(pod, { ...policy, all: true })).toMatchObject({ kind: "unchanged", reason: message });
});

test.each<[string, object]>([
  ["spec.os", { os: { name: "linux" } }],
  ["node selectors", { nodeSelector: { "kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64", zone: "a" } }],
  ["one of its terms", needs(term("kubernetes.io/os", "In", ["windows"]), term("zone", "Exists"))],
  ["one of its values", needs(term("kubernetes.io/arch", "In", ["s390x", "amd64"]))],
  ["what it excludes", needs(term("kubernetes.io/os", "NotIn", ["windows"]))],
  ["one architecture that it excludes", needs(term("kubernetes.io/arch", "NotIn", ["arm64"]))],
  ["a term of fields", needs({ matchFields: [{ key: "metadata.name", operator: "In", values: ["node-1"] }] })],
  ["no term", needs()],
  [
    "a mere preference",
    {
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, preference: term("kubernetes.io/os", "In", ["windows"]) },
          ],
        },
      },
    },
  ],
])("a pod that may run on Linux gets ebb: %s", (_, spec) => {
  expect(changed({ spec }).spec.containers[0].command[0]).toBe("/ebb.dev/ebb");
});

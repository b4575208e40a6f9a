import { expect, test } from "bun:test";
import { app, changed } from "../injection.ts";

const resourcesOf = (spec: object, ...resources: readonly object[]): unknown => {
  const containers = resources.map((one, at) => app({ name: `app-${at}`, resources: one }));
  return changed({ containers, spec }).spec.initContainers[0].resources;
};

const equal = (cpu: string, memory: string) => ({ requests: { cpu, memory }, limits: { cpu, memory } });

test.each<[string, readonly object[], object | undefined]>([
  ["nothing is said where the pod says nothing: BestEffort", [{}], undefined],
  ["nor where one container says nothing", [equal("1", "1Gi"), {}], undefined],
  ["a Guaranteed pod stays so", [equal("500m", "128Mi")], equal("500m", "128Mi")],
  [
    "with what the largest container has, up to a processor and 128Mi",
    [equal("500m", "1Gi"), equal("2", "1Gi")],
    equal("1", "128Mi"),
  ],
  [
    "and no more than that one has, so that a LimitRange's max admits it",
    [equal("300m", "80Mi"), equal("200m", "96Mi")],
    equal("300m", "96Mi"),
  ],
  ["also where limits alone are said", [{ limits: { cpu: 2, memory: "1Gi" } }], equal("1", "128Mi")],
  ["of a small one no more than it has", [equal("50m", "20Mi")], equal("50m", "20Mi")],
  ["but what it cannot do without", [equal("50m", "8Mi")], equal("50m", "16Mi")],
  ["requests are small", [{ requests: { cpu: "2", memory: "1Gi" } }], { requests: { cpu: "100m", memory: "16Mi" } }],
  [
    "and never more than the containers' together",
    [{ requests: { cpu: "20m", memory: "1M" } }],
    { requests: { cpu: "20m", memory: "1000000" } },
  ],
  [
    "limits too, where all have them",
    [{ requests: { cpu: "2", memory: "1Gi" }, limits: { memory: "2Gi" } }],
    { requests: { cpu: "100m", memory: "64Mi" }, limits: { memory: "128Mi" } },
  ],
  [
    "also in a Burstable pod",
    [
      { requests: { cpu: "20m", memory: "8Mi" }, limits: { cpu: "60m", memory: "64Mi" } },
      { requests: { cpu: "60m", memory: "8Mi" }, limits: { cpu: "60m", memory: "96Mi" } },
    ],
    { requests: { cpu: "60m", memory: "16Mi" }, limits: { cpu: "60m", memory: "96Mi" } },
  ],
  [
    "but memory that it cannot do without",
    [{ requests: { memory: "4Mi" }, limits: { memory: "8Mi" } }],
    { requests: { memory: "8Mi" }, limits: { memory: "16Mi" } },
  ],
  [
    "on the disk the copy comes on top of what the containers may take",
    [{ requests: { "ephemeral-storage": "1Gi" }, limits: { "ephemeral-storage": "2Gi" } }],
    { requests: { "ephemeral-storage": "128Mi" }, limits: { "ephemeral-storage": "2176Mi" } },
  ],
  [
    "a processor is counted in thousandths, as Kubernetes does",
    [equal("150m", "1Gi"), equal("0.2505", "1Gi")],
    equal("251m", "128Mi"),
  ],
  ["and less than one is one", [equal("250u", "1Gi")], equal("1m", "128Mi")],
  ["a quantity that is none says nothing", [{ requests: { cpu: "much" } }], undefined],
])("resources of the copy: %s", (_, resources, expected) => {
  expect(resourcesOf({}, ...resources)).toEqual(expected as object);
});

test("resources of the copy: with those of the pod as a whole nothing is said", () => {
  expect(resourcesOf({ resources: { limits: { cpu: "1" } } }, equal("1", "1Gi"))).toBeUndefined();
});

const burstable = (...[cpu, cpuLimit, memory, memoryLimit]: readonly string[]) => ({
  requests: { cpu, memory },
  limits: { cpu: cpuLimit, memory: memoryLimit },
});

test.each<[string, readonly object[], object]>([
  ["by more requests", [burstable("500m", "1", "512Mi", "1Gi")], burstable("500m", "1", "64Mi", "128Mi")],
  ["no more than it needs", [burstable("2", "4", "40Mi", "80Mi")], burstable("500m", "1", "40Mi", "80Mi")],
  [
    "up to the containers' sum, then by a lower limit",
    [burstable("100m", "400m", "64Mi", "96Mi"), burstable("50m", "2", "16Mi", "1Gi")],
    burstable("150m", "600m", "80Mi", "120Mi"),
  ],
  [
    "rounded such that it is not more",
    [burstable("500m", "1500m", "512Mi", "1536Mi")],
    burstable("334m", "1", "44739243", "128Mi"),
  ],
  [
    "of one resource alone",
    [{ requests: { cpu: "300m" }, limits: { cpu: "1" } }],
    { requests: { cpu: "300m" }, limits: { cpu: "1" } },
  ],
  [
    "of those that limits alone make",
    [{ limits: { cpu: "60m" } }, { requests: { cpu: "60m" }, limits: { cpu: "2" } }],
    { requests: { cpu: "120m" }, limits: { cpu: "120m" } },
  ],
  [
    "if there is one",
    [{ requests: { cpu: "0" }, limits: { cpu: "2" } }],
    { requests: { cpu: "0" }, limits: { cpu: "1" } },
  ],
])("the least ratio of limit to request of a container is the copy's, too: %s", (_, resources, expected) => {
  expect(resourcesOf({}, ...resources)).toEqual(expected);
});

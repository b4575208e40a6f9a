import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseQuantity } from "../../../../../src/cluster/core/quantity.ts";
import type { ImageCommand } from "../../../../../src/cluster/image/core/lookup.ts";
import { readStatus, type Status } from "../../../../../src/cluster/inject/core/edits/status.ts";
import { undoEdits } from "../../../../../src/cluster/inject/core/edits/undo.ts";
import { kindOfHook } from "../../../../../src/cluster/inject/core/facts/existing-hooks.ts";
import { injectPod } from "../../../../../src/cluster/inject/core/inject-pod.ts";
import type { InjectPolicy } from "../../../../../src/cluster/inject/core/policy.ts";
import { commands } from "../../../../../src/commands.ts";
import { compatTools } from "../../../../../src/compat/tools.ts";
import { refuseUnnamed } from "../../../../../src/pod/find/refuse-unnamed.ts";
import { readCommandCall, readOperandCall } from "../../../../../src/shared/cli/core/call.ts";
import { pickOptions } from "../../../../../src/shared/cli/core/options.ts";
import { parseChoice } from "../../../../../src/shared/sidecars/core/choice.ts";
import type { Loose } from "./injection.ts";
import { startedBy } from "./kubelet.ts";
import { anyPod, anyPolicy } from "./pods.ts";

/** The same pods each time; others, and as many as wanted, with RUNS=20000 in the environment. */
const runs = process.env.RUNS === undefined ? { numRuns: 300, seed: 42 } : { numRuns: Number(process.env.RUNS) };

/** What holds of pods that are changed. */
function whereChanged(check: (before: Loose, after: Loose, policy: InjectPolicy) => void): void {
  let changes = 0;
  const property = fc.property(anyPod, anyPolicy, (pod, policy) => {
    const injection = injectPod(pod, policy);
    if (injection.kind !== "changed") return;
    changes += 1;
    check(pod, injection.pod, policy);
  });
  fc.assert(property, runs);
  expect(changes).toBeGreaterThan(runs.numRuns / 20);
}

test("whatever JSON it gets, there is an answer, and what it got stays as it was", () => {
  const strange = fc
    .tuple(anyPod, fc.jsonValue(), fc.constantFrom("metadata", "spec"))
    .map(([pod, value, field]) => ({ ...pod, [field]: value }));
  const odd = fc.tuple(anyPod, fc.jsonValue()).map(([pod, value]) => ({
    ...pod,
    metadata: { annotations: { "ebb.dev/inject": "true", "ebb.dev/status": JSON.stringify(value) } },
  }));
  const property = fc.property(fc.oneof(anyPod, strange, odd, fc.jsonValue()), anyPolicy, (json, policy) => {
    const text = JSON.stringify(json);
    freeze(json);
    expect(["changed", "removed", "unchanged", "skipped", "refused"]).toContain(injectPod(json, policy).kind);
    expect(JSON.stringify(json)).toBe(text);
  });
  fc.assert(property, runs);
});

/** Returns a pod as it was before ebb came, but for the sidecars that became native: these are where they are now. */
function moved(before: Loose, after: Loose): Loose {
  const { moved = {} } = readStatus(after.metadata.annotations["ebb.dev/status"]) as Status;
  const names = Object.keys(moved);
  if (names.length === 0) return before;
  const { containers, initContainers } = before.spec;
  const natives = names.map((name) => ({
    ...containers.find((one: Loose) => one.name === name),
    restartPolicy: "Always",
  }));
  const rest = containers.filter(({ name }: Loose) => !names.includes(name));
  return {
    ...before,
    spec: { ...before.spec, containers: rest, initContainers: [...(initContainers ?? []), ...natives] },
  };
}

function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const inner of Object.values(value)) freeze(inner);
  Object.freeze(value);
}

test("a second time changes nothing", () => {
  whereChanged((_, after, policy) => expect(injectPod(after, policy).kind).toBe("unchanged"));
});

test("whatever the policy was, another one comes to what it would have come to at first", () => {
  const property = fc.property(anyPod, anyPolicy, anyPolicy, (pod, earlier, later) => {
    const first = injectPod(pod, earlier);
    if (first.kind !== "changed") return;
    const options = new Map([...earlier.options, ...later.options]);
    const isRemembered = imageIn(later) === undefined && imageIn(earlier) !== undefined;
    // an image's own ebb is not remembered, nor that an image starts nothing
    if (isRemembered && /^(.*\/ebb)?$/.test(imageIn(earlier)?.entrypoint[0] ?? "")) return;
    const { imageOf } = isRemembered ? earlier : later;
    const atOnce = injectPod(pod, { ...later, imageOf, options, entrypoints: earlier.entrypoints });
    const after = injectPod(first.pod, { ...later, entrypoints: new Map() });
    if (after.kind === "changed" && atOnce.kind === "changed") expect(plain(after.pod)).toEqual(plain(atOnce.pod));
    else if (after.kind !== atOnce.kind) expect([after.kind, atOnce.kind]).not.toContain("refused");
  });
  fc.assert(property, runs);
});

test("no field is lost, and none changes its place: what there was is there, in its order, but for commands and sleeps", () => {
  whereChanged((before, after) => expect(lostIn(moved(before, after), after, "")).toEqual([]));
});

/** The paths of what is not there any more, or not in its order. */
function lostIn(before: unknown, after: unknown, path: string): readonly string[] {
  if (
    path.endsWith(".ebb.dev/native") ||
    path.endsWith(".command") ||
    path.endsWith(".preStop.sleep") ||
    Object.is(before, after)
  )
    return [];
  if (
    before === null &&
    /\.(annotations|volumes|env|volumeMounts|initContainers|lifecycle|preStop|command)$/.test(path)
  )
    return [];
  if (typeof before !== "object" || before === null) return [path];
  if (typeof after !== "object" || after === null || Array.isArray(before) !== Array.isArray(after)) return [path];
  if (Array.isArray(before)) {
    const all = after as unknown[];
    const start = path.endsWith(".initContainers") ? all.length - before.length : 0;
    return before.flatMap((item, at) => lostIn(item, all[start + at], `${path}[${at}]`));
  }
  const names = Object.keys(before).filter((name) => !isTakenOut(name, before, after));
  const there = Object.keys(after).filter((name) => names.includes(name));
  const isInOrder = JSON.stringify(names) === JSON.stringify(there) || path.endsWith(".preStop");
  return [
    ...(isInOrder ? [] : [`${path} {${names}} -> {${there}}`]),
    ...names.flatMap((name) => lostIn((before as Loose)[name], (after as Loose)[name], `${path}.${name}`)),
  ];
}

/** Reports whether a field is gone because it was a hook that slept, or had nothing but that. */
function isTakenOut(name: string, before: Loose, after: Loose): boolean {
  if (after[name] !== undefined) return false;
  const hook = name === "lifecycle" ? before.lifecycle?.preStop : name === "preStop" ? before.preStop : undefined;
  return kindOfHook(hook).kind === "replaceable";
}

test("taken out again, the pod is what it was", () => {
  whereChanged((before, after) => {
    const status = readStatus(after.metadata.annotations["ebb.dev/status"]) as Status;
    const removed = structuredClone(after);
    undoEdits(removed, status);
    expect(removed).toStrictEqual(before);
  });
});

/** Without empty lists and objects where ebb adds: those mean nothing. */
function plain(pod: Loose): Loose {
  const without = (object: Loose, ...names: string[]) => {
    const isEmpty = (name: string, value: Loose) =>
      names.includes(name) && (value === null || Object.keys(value).length === 0);
    return Object.fromEntries(Object.entries(object).filter(([name, value]) => !isEmpty(name, value)));
  };
  const containers = pod.spec.containers.map((one: Loose) => {
    const lifecycle = one.lifecycle == null ? {} : { lifecycle: without(one.lifecycle, "preStop") };
    return without({ ...one, ...lifecycle }, "env", "volumeMounts", "lifecycle", "command");
  });
  const spec = without({ ...pod.spec, containers }, "initContainers", "volumes");
  return without({ ...pod, metadata: without(pod.metadata ?? {}, "annotations"), spec }, "metadata");
}

const runOptions = commands.run?.options ?? {};

test("what a container starts is what it started: ebb's command line ends with it", () => {
  const variables = { PORT: "80" };
  whereChanged((given, after, policy) => {
    const before = moved(given, after);
    for (const [at, container] of after.spec.containers.entries()) {
      const was = before.spec.containers[at];
      expect(container.args).toEqual(was.args);
      const isLeft = JSON.stringify(container.command) === JSON.stringify(was.command);
      if (isLeft) continue;
      const none = { entrypoint: [], cmd: [] };
      const args = was.args ?? [];
      const [ebb, word, ...rest] = startedBy({ ...none, command: container.command, args }, variables);
      expect(ebb).toBe("/ebb.dev/ebb");
      const said = was.command?.length ? was.command : knownEntrypoint(was, before, policy);
      const ofImage = said === undefined ? (imageIn(policy) as ImageCommand) : none;
      const original = startedBy({ ...ofImage, command: said ?? [], args }, variables);
      if (word === "run") {
        expect(readCommandCall(runOptions, { args: rest, env: {} }).command).toEqual(original);
      } else {
        expect(original[0]?.split("/").at(-1)).toBe(word as string);
        expect(Object.keys(compatTools)).toContain(word as string);
        expect(rest).toEqual(original.slice(1));
      }
    }
  });
});

function imageIn({ imageOf }: InjectPolicy): ImageCommand | undefined {
  const lookup = imageOf?.({ image: "", architectures: [] });
  return lookup?.kind === "found" ? lookup.command : undefined;
}

function knownEntrypoint(
  { name, image }: Loose,
  { metadata }: Loose,
  { entrypoints }: InjectPolicy,
): readonly string[] | undefined {
  const { "ebb.dev/entrypoint": all, [`ebb.dev/entrypoint.${name}`]: own } = metadata?.annotations ?? {};
  const said = own ?? all;
  if (said !== undefined) return said === "/img x" ? ["/img", "x"] : ["/img", "a b"];
  return entrypoints.get(name) ?? entrypoints.get(image?.replace(/(@|:1).*/, ""));
}

test("the API server has nothing against what was added", () => {
  whereChanged((given, after) => {
    const before = moved(given, after);
    const { containers, initContainers = [], volumes = [] } = after.spec;
    const all = [...containers, ...(initContainers ?? [])];
    const names = (list: Loose) => list.map(({ name }: Loose) => name);
    const isUnique = (list: readonly string[]) => expect(list).toEqual([...new Set(list)]);
    isUnique(names(all));
    isUnique(names(volumes));
    for (const name of [...names(all), ...names(volumes)]) expect(name).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
    for (const [at, container] of containers.entries()) {
      isUnique(names(container.env ?? []));
      isUnique((container.volumeMounts ?? []).map(({ mountPath }: Loose) => mountPath));
      const added = (container.volumeMounts ?? []).slice((before.spec.containers[at].volumeMounts ?? []).length);
      for (const { name } of added) expect(names(volumes)).toContain(name);
    }
  });
});

test("every variable, and every hook, is one that ebb takes", () => {
  whereChanged((given, after) => {
    const before = moved(given, after);
    for (const [at, container] of after.spec.containers.entries()) {
      const was = before.spec.containers[at];
      const added = (container.env ?? []).slice((was.env ?? []).length);
      const env = Object.fromEntries(added.map(({ name, value }: Loose) => [name, value]));
      expect(() => readCommandCall(runOptions, { args: ["--", "x"], env })).not.toThrow();
      const hook = container.lifecycle?.preStop?.exec?.command;
      if (hook?.[0] !== "/ebb.dev/ebb") continue;
      if (container.command?.[1] === "run") expect(container.command).toEqual(was.command);
      const [, word, ...args] = hook;
      const call = readOperandCall(commands[word]?.options ?? {}, { args, env });
      expect(call.operands).toEqual([]);
      expect(env.EBB_DRAIN).toBeUndefined();
      if (word === "hold") continue;
      expect(word).toBe("drain");
      expect(after.spec.restartPolicy ?? "Always").toBe("Always");
      expect(call.values.drain).toBeLessThan((after.spec.terminationGracePeriodSeconds ?? 30) * 1000);
    }
  });
});

const settings = pickOptions("sidecar", "admin", "ready", "quit", "podAnnotations", "hostNetwork", "appPort");

test("on the node's network no app is started with a name that ebb run refuses", async () => {
  const calls: Parameters<typeof refuseUnnamed>[] = [];
  const property = fc.property(anyPod, anyPolicy, (pod, policy) => {
    const given = { ...pod, spec: { ...pod.spec, hostNetwork: true } };
    const injection = injectPod(given, { ...policy, all: true });
    if (injection.kind !== "changed") return;
    for (const { command, env } of (injection.pod as Loose).spec.containers) {
      const [ebb, word] = command ?? [];
      const variables = Object.fromEntries((env ?? []).map(({ name, value }: Loose) => [name, value ?? ""]));
      const isBad = parseChoice(variables.EBB_SIDECAR ?? "auto") === undefined; // the manifest's own, and no name
      if (ebb !== "/ebb.dev/ebb" || word !== "run" || isBad) continue;
      const { values } = readCommandCall(settings, { args: ["--", "x"], env: variables });
      calls.push(["run", values, { env: variables }]);
    }
  });
  fc.assert(property, runs);
  expect(calls.length).toBeGreaterThan(runs.numRuns / 20);
  for (const call of calls) await refuseUnnamed(...call);
});

test("the pod asks for no more of its node than it did, and its class of service is what it was", () => {
  whereChanged((before, after) => {
    const install = (after.spec.initContainers ?? [])[0];
    if (install?.command?.[1] !== "install" || before.spec.resources !== undefined) return;
    const requests = install.resources?.requests ?? {};
    for (const name of ["cpu", "memory", "ephemeral-storage"]) {
      if (requests[name] === undefined) continue;
      const unit = name === "cpu" ? 1000 : 1; // less than a thousandth of a processor counts as one
      const said = (one: Loose) => parseQuantity(one.resources?.requests?.[name] ?? one.resources?.limits?.[name]) ?? 0;
      const of = (one: Loose) => Math.ceil(said(one) * unit) / unit;
      const sum = before.spec.containers.reduce((total: number, one: Loose) => total + of(one), 0);
      const least = name === "memory" && classOf(before) === "Guaranteed" ? 16 * 2 ** 20 : 0;
      expect(parseQuantity(requests[name])).toBeLessThanOrEqual(Math.max(sum, least));
      const limit = parseQuantity(install.resources.limits?.[name]) ?? Number.POSITIVE_INFINITY;
      expect(parseQuantity(requests[name])).toBeLessThanOrEqual(limit);
    }
    expect(classOf(after)).toBe(classOf(before));
  });
});

/** Kubernetes: pkg/apis/core/v1/helper/qos/qos.go, without resources of the pod as a whole. */
function classOf({ spec }: Loose): string {
  const all = [...spec.containers, ...(spec.initContainers ?? [])];
  const amount = (of: Loose, name: string) => parseQuantity(of?.[name]) ?? 0;
  const isAny = all.some(({ resources }) =>
    ["cpu", "memory"].some((name) => amount(resources?.requests, name) > 0 || amount(resources?.limits, name) > 0),
  );
  if (!isAny) return "BestEffort";
  const isGuaranteed = all.every(({ resources }) =>
    ["cpu", "memory"].every((name) => {
      const limit = amount(resources?.limits, name);
      return limit > 0 && amount({ ...resources?.limits, ...resources?.requests }, name) === limit;
    }),
  );
  return isGuaranteed ? "Guaranteed" : "Burstable";
}

test("a refusal, and what is left for its command, names each field, and says what is wrong in words", () => {
  let refusals = 0;
  const property = fc.property(anyPod, anyPolicy, (pod, policy) => {
    const injection = injectPod(pod, policy);
    if (!("problems" in injection)) return;
    refusals += 1;
    expect(injection.problems.length).toBeGreaterThan(0);
    for (const { field, message } of [...injection.problems, ...injection.warnings]) {
      expect(field).toMatch(/^(spec\.|metadata\.annotations\[)/);
      expect(message).toMatch(/^(?!.*(undefined|\[object|NaN)).{10,}$/s);
    }
  });
  fc.assert(property, runs);
  expect(refusals).toBeGreaterThan(runs.numRuns / 20);
});

import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { facts as allFacts } from "../../../../../build/sidecar-tables.ts";
import { aspects, type Fact } from "../../../../../src/shared/sidecars/core/kinds/fact.ts";
import type { SidecarKind } from "../../../../../src/shared/sidecars/core/kinds/kind.ts";
import { kindOf, sidecarNames } from "../../../../../src/shared/sidecars/core/registry.ts";

const root = join(import.meta.dirname, "../../../../..");

describe.each(sidecarNames.map((name) => [name]))("what is known of %s", (name) => {
  const [kind, facts] = [kindOf(name), allFacts.get(name) ?? []];

  test("is told of each thing that ebb relies on", () => {
    const about = new Set(facts.map((fact) => fact.about));
    expect(neededOf(kind).filter((each) => !about.has(each))).toEqual([]);
  });

  test("is told once each, in one order", () => {
    const about = facts.map((fact) => fact.about);
    expect(about).toEqual(aspects.filter((each) => about.includes(each)));
  });

  test("was run by a test that is there, or read at a place of a version", () => {
    for (const fact of facts) {
      if ("ran" in fact) {
        expect(fact.ran).toMatch(/\d+\.\d+/);
        expect(fact.by).toMatch(/^test\//);
        expect(existsSync(join(root, fact.by))).toBe(true);
      } else {
        expect(fact.read).toMatch(/\d/);
      }
    }
  });
});

function neededOf(kind: SidecarKind): readonly Fact["about"][] {
  return [
    "admin",
    ...(kind.ready === undefined ? [] : (["ready"] as const)),
    "quit",
    ...(kind.exitsWhen === undefined ? [] : (["exitsWhen"] as const)),
    ...(kind.alwaysOpen === undefined ? [] : (["alwaysOpen"] as const)),
    "refusals",
    ...(kind.drainPath === undefined ? [] : (["drain", "count"] as const)),
    "found",
    ...(kind.adjust === undefined ? [] : (["moved"] as const)),
    "container",
    ...(kind.reaping === undefined ? [] : (["reaper"] as const)),
  ];
}

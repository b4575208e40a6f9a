import { describe, expect, test } from "bun:test";
import { howToMend, rightsNeeded } from "../../../src/core/reap/rights.ts";

describe("what a reaper that lacks rights tells its operator", () => {
  const needed = rightsNeeded({
    namespaces: [],
    methods: ["exec", "port-forward"],
    onlyLooks: false,
    lease: { namespace: "ebb-reaper", name: "ebb-reaper" },
  });
  const lacking = (...resources: string[]): string =>
    howToMend(needed.filter(({ resource }) => resources.includes(resource)));

  test("rights that only one method needs are optional", () => {
    expect(lacking("pods/exec")).toEndWith(", or leave exec out of --methods");
    expect(lacking("pods/exec", "pods/portforward")).toEndWith(", or leave exec and port-forward out of --methods");
  });

  test.each([["pods"], ["events"], ["leases"]])("%s cannot be done without", (resource) => {
    expect(lacking(resource, "pods/exec")).not.toContain("--methods");
    expect(lacking(resource)).toStartWith("grant them");
  });
});

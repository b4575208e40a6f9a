import { describe, expect, test } from "bun:test";
import { describeRight, howToMend, refusedRight, rightsNeeded } from "../../../../../src/cluster/reaper/core/rights.ts";

describe("what a reaper that lacks rights tells its operator", () => {
  const needed = rightsNeeded({
    namespaces: [],
    methods: ["exec", "port-forward"],
    onlyLooks: false,
  });
  const lacking = (...resources: string[]): string =>
    howToMend(needed.filter(({ resource }) => resources.includes(resource)));

  test("rights that only one method needs are optional", () => {
    expect(lacking("pods/exec")).toEndWith(", or leave exec out of --methods");
    expect(lacking("pods/exec", "pods/portforward")).toEndWith(", or leave exec and port-forward out of --methods");
  });

  test.each([["pods"], ["events"]])("%s cannot be done without", (resource) => {
    expect(lacking(resource, "pods/exec")).not.toContain("--methods");
    expect(lacking(resource)).toStartWith("grant them");
  });
});

describe("what the API server's 403 says of a right", () => {
  const needed = rightsNeeded({
    namespaces: [],
    methods: ["exec"],
    onlyLooks: false,
  });
  const inShop = rightsNeeded({ namespaces: ["shop"], methods: ["exec"], onlyLooks: false });
  const forbidden = (words: string): string => `POST /x: 403 pods "p" is forbidden: User "u" cannot ${words}`;

  test.each([
    ['create resource "pods/exec" in API group "" in the namespace "bank"', "create pods/exec in all namespaces"],
    ['watch resource "pods" in API group "" at the cluster scope', "watch pods in all namespaces"],
    [
      'create resource "events" in API group "events.k8s.io" in the namespace "bank": no binding',
      "create events in all namespaces",
    ],
  ])("%s", (words, right) => {
    const found = refusedRight(forbidden(words), needed);
    expect(found && describeRight(found)).toBe(right);
  });

  test("the right is the one of the namespace that it names", () => {
    const inNamespace = (name: string) =>
      refusedRight(forbidden(`get resource "pods" in API group "" in the namespace "${name}"`), inShop);
    expect(inNamespace("shop")).toMatchObject({ verb: "get", resource: "pods", namespace: "shop" });
    expect(inNamespace("bank")).toBeUndefined();
  });

  test.each([
    ["a right that is not needed", forbidden('delete resource "pods" in API group "" in the namespace "shop"')],
    ["a resource of another group", forbidden('create resource "events" in API group "" in the namespace "shop"')],
    ["an admission plugin", 'POST /x: 403 pods "p" is forbidden: violates PodSecurity "restricted:latest"'],
  ])("%s is none that is missing", (_, message) => {
    expect(refusedRight(message, needed)).toBeUndefined();
  });
});

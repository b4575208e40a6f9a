import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { alertsPath } from "../../../build/monitoring/monitoring.ts";
import { version } from "../../../package.json";
import { manifestOf } from "../../../src/cluster/manifests/manifests.ts";
import { objectsOf } from "../../binary/cluster/printed-manifests.ts";
import { runProgram } from "../../cluster/kubectl.ts";
import { compiledProgram } from "../../sidecars/compile.ts";
import { byName, chart, helms, type Objects, render, repository, template, tryHelm, type Values } from "./rendered.ts";

const image = { repository };

describe.each(helms)("%s", (helm) => {
  test("lints the chart without a complaint", async () => {
    const lint = [compiledProgram(helm).path, "lint", "--strict", chart, "--set", "image.repository=a"];
    const { code, stdout } = await runProgram(lint, {});
    expect({ code, warnings: stdout.match(/\[(WARNING|ERROR)\].*/g) }).toEqual({ code: 0, warnings: null });
  });

  test("makes of the defaults what webhook.yaml and reaper.yaml have, but for its own labels", async () => {
    const both = { reaper: { enabled: true } };
    expect(withoutOwnLabels(await render(helm, both))).toEqual({ ...filled("webhook"), ...filled("reaper") });
    expect(withoutOwnLabels(await render(helm, {}))).toEqual(filled("webhook"));
  });

  test("adds for webhook.pullSecrets what pull-secrets.yaml has", async () => {
    const webhook = { registries: ["docker.io"], pullSecrets: true };
    const expected = filled("webhook", "--registries=docker.io", "--pull-secrets");
    expect(withoutOwnLabels(await render(helm, { webhook }))).toEqual(expected);
  });

  test.each<[string, object, string, string?]>([
    ["no image", {}, "image.repository: expected an image with ebb at /ebb"],
    ["Secrets without registries", { image, webhook: { pullSecrets: true } }, "no registry is asked"],
    ["an unknown value", { webhook: { al: true } }, "al"],
    ["to install nothing", { image, webhook: { enabled: false } }, "nothing would be installed"],
    ["a release that begins with a digit", { image }, "fullnameOverride: no Service can be called 1-ebb", "1"],
    ["a release with a dot", { image }, "fullnameOverride: no Service can be called ebb.a", "ebb.a"],
    [
      "to monitor a CronJob",
      { image, podMonitor: true, webhook: { enabled: false }, reaper: { enabled: true, schedule: "@hourly" } },
      "podMonitor, prometheusRule: a CronJob (reaper.schedule) has no metrics",
    ],
  ])("refuses %s", async (_, values, message, release = "ebb") => {
    const { code, stderr } = await tryHelm(helm, template, values, release);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(message) });
  });

  test.each<[string, Values, readonly string[]]>([
    ["both components", { reaper: { enabled: true } }, ["ebb-webhook", "ebb-reaper"]],
    ["a webhook and a CronJob", { reaper: { enabled: true, schedule: "@hourly" } }, ["ebb-webhook"]],
  ])("makes a PrometheusRule of the alerts about %s", async (_, values, names) => {
    const objects = await render(helm, { prometheusRule: true, ...values });
    const { groups } = parse(readFileSync(alertsPath, "utf8"));
    expect(objects["PrometheusRule ebb"].spec).toEqual({
      groups: groups.filter((group: { name: string }) => names.includes(group.name)),
    });
  });
});

// Helm 3 asks a cluster for them
describe("NOTES name each option by its value:", () => {
  const label = (names: string) => `kubectl label namespace ${names} ebb.dev/reap=true`;
  const reaper = { enabled: true };
  test.each<[string, object, readonly string[]]>([
    [
      "the defaults",
      {},
      ["kubectl label namespace NAME ebb.dev/inject=true", "webhook.volume=image", "reaper.enabled ends them"],
    ],
    ["webhook.all", { webhook: { all: true } }, ["(webhook.all)"]],
    ["webhook.failurePolicy", { webhook: { failurePolicy: "Fail" } }, ["are refused (webhook.failurePolicy)"]],
    ["webhook.volume", { webhook: { volume: "image" } }, ["Pods with ebb start only on nodes that can mount images"]],
    ["reaper.enabled", { reaper }, [`Stuck pods are ended after:              ${label("NAME")}`]],
    ["reaper.reapNamespace", { reaper: { ...reaper, reapNamespace: ["shop", "bank"] } }, [label("shop bank")]],
    ["reaper.dryRun", { reaper: { ...reaper, dryRun: true } }, ["Stuck pods are logged after:  ", "(reaper.dryRun)"]],
    ["reaper.allJobs", { reaper: { ...reaper, allJobs: true } }, ["(reaper.allJobs)"]],
    ["selector", { selector: [{ key: "a", operator: "Exists" }] }, ["are left alone (selector)"]],
    [
      "webhook.namespaceSelector",
      { webhook: { namespaceSelector: [{ key: "a", operator: "Exists" }] } },
      ["(webhook.namespaceSelector)"],
    ],
    [
      "values that are gone",
      { webhook: { certificateValidity: "2160h", caValidity: "17520h" } },
      ["webhook.certificateValidity does nothing any more", "webhook.caValidity does nothing any more"],
    ],
  ])("%s", async (_, values, expected) => {
    const notes = async (own: object) =>
      (await tryHelm("helm-4", ["install", "--dry-run=client"], { image, ...own })).stdout.split("NOTES:")[1];
    for (const text of expected) expect(await notes(values)).toContain(text);
    if (Object.keys(values).length > 0) expect(await notes({})).not.toContain(expected.at(-1) as string);
  });
});

/** Returns the objects of a file in the namespace mesh, without the namespace. */
function filled(component: "webhook" | "reaper", ...args: readonly string[]): Objects {
  const readsPullSecrets = args.includes("--pull-secrets");
  return byName(
    objectsOf(manifestOf(component, { image: `${repository}:${version}`, namespace: "mesh", args, readsPullSecrets })),
  );
}

/** Returns objects without the labels that Helm's charts have, which say who installed them. */
function withoutOwnLabels(objects: Objects): Objects {
  const copies = structuredClone(objects);
  for (const { metadata } of Object.values(copies)) {
    for (const label of ["app.kubernetes.io/version", "helm.sh/chart", "app.kubernetes.io/managed-by"]) {
      expect(metadata.labels[label]).toBeString();
      delete metadata.labels[label];
    }
  }
  return copies;
}

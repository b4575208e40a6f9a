import { expect, test } from "bun:test";
import type { LabelSelector, Texts } from "../../../../../src/cluster/api/core/objects.ts";
import { podFinding } from "../../../../../src/cluster/doctor/core/pods.ts";
import { wantsEbb } from "../../../../../src/cluster/doctor/core/refusals.ts";
import { requestOf, type Selection } from "../../../../../src/cluster/doctor/core/selection.ts";
import { injectPod } from "../../../../../src/cluster/inject/core/inject-pod.ts";
import { type Loose, podIn, podOf, policy } from "../../inject/core/injection.ts";

const matching = (key: string, operator: string, ...values: string[]) => ({
  matchExpressions: [{ key, operator, values }],
});
const both = { matchLabels: { app: "web" }, ...matching("tier", "Exists") };

test.each<[string, LabelSelector | undefined, Texts | undefined, boolean]>([
  ["none", undefined, undefined, true],
  ["one without requirements", {}, {}, true],
  ["matchLabels", { matchLabels: { app: "web" } }, { app: "web", tier: "a" }, true],
  ["matchLabels, of another value", { matchLabels: { app: "web" } }, { app: "db" }, false],
  ["matchLabels, without the label", { matchLabels: { app: "web" } }, undefined, false],
  ["In", matching("app", "In", "web", "db"), { app: "db" }, true],
  ["In, without the label", matching("app", "In", "web"), {}, false],
  ["NotIn", matching("app", "NotIn", "web"), { app: "web" }, false],
  ["NotIn, without the label", matching("app", "NotIn", "web"), {}, true],
  ["Exists", matching("app", "Exists"), { app: "" }, true],
  ["Exists, without the label", matching("app", "Exists"), {}, false],
  ["DoesNotExist", matching("app", "DoesNotExist"), { app: "" }, false],
  ["DoesNotExist, without the label", matching("app", "DoesNotExist"), {}, true],
  ["both kinds", both, { app: "web", tier: "a" }, true],
  ["both kinds, of which one is met", both, { app: "web" }, false],
])("a label selector of a webhook: %s", (_, selector, labels, isCovered) => {
  expect(
    requestOf({ metadata: { labels: { ...labels } } }, {}, [
      { ...(selector && { objectSelector: selector }), all: true },
    ]),
  ).toMatchObject({ isCovered });
  expect(requestOf({}, { ...labels }, [{ ...(selector && { namespaceSelector: selector }), all: true }])).toMatchObject(
    { isCovered },
  );
});

const ofTeam = { namespaceSelector: { matchLabels: { team: "a" } }, all: true };
const ofOthers = { namespaceSelector: matching("team", "NotIn", "a"), all: false };

test.each<[string, Texts | undefined, Selection[], ReturnType<typeof requestOf>]>([
  ["the --all of another webhook", { team: "b" }, [ofTeam, ofOthers], { by: undefined, isCovered: true }],
  ["its own webhook's --all", { team: "a" }, [ofTeam, ofOthers], { by: "--all", isCovered: true }],
  ["a namespace whose labels are not known", undefined, [ofTeam], { by: "--all", isCovered: true }],
  ["its namespace, and no selector", { "ebb.dev/inject": "true" }, [ofTeam], { by: undefined, isCovered: false }],
  ["its namespace, and no known webhook", { "ebb.dev/inject": "true" }, [], { by: "namespace", isCovered: true }],
])("a pod is requested by %s", (_, labels, selections, request) => {
  expect(requestOf({}, labels, selections)).toEqual(request);
});

test("a pod that asks, and that no selector covers, gets no ebb from the webhook", () => {
  const webhooks = {
    count: 1,
    answering: 1,
    injected: [{ image: "ebb:2", options: {} }],
    volumes: ["emptyDir"],
    selections: [ofTeam],
  };
  const told = (pod: Loose) => podFinding(pod, {}, webhooks)?.message;
  expect(told(podOf())).toEndWith("change that, or the labels; after that: create the pod again");
  expect(told(podIn(injectPod(podOf(), policy)))).toContain("its manifest has that ebb, so a restart does not help");
  const metadata = { name: "web", namespace: "shop", uid: "u" };
  expect(wantsEbb({ metadata, spec: { template: podOf() } }, {}, [ofTeam])).toBe(false);
});

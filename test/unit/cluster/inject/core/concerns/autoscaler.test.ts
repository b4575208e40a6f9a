import { expect, test } from "bun:test";
import { LOCAL_VOLUMES } from "../../../../../../src/cluster/inject/core/annotation-names.ts";
import type { InjectPolicy } from "../../../../../../src/cluster/inject/core/policy.ts";
import { app, changed, type Given } from "../injection.ts";

const told = (value: string): Given => ({ annotations: { [LOCAL_VOLUMES]: value } });
const several: Given = {
  spec: { restartPolicy: "Never" },
  containers: [app({ name: "a" }), app({ name: "b" })],
};

test.each<[string, Given, Partial<InjectPolicy>, string | undefined]>([
  ["ebb's emptyDir", {}, {}, "ebb"],
  ["behind the user's, without a blank", told("cache"), {}, "cache,ebb"],
  ["also behind nothing", told(""), {}, ",ebb"],
  ["once", told("ebb,cache"), {}, "ebb,cache"],
  ["by its whole name", told("cache, ebb"), {}, "cache, ebb,ebb"],
  ["by the name that it has", { spec: { volumes: [{ name: "ebb", emptyDir: {} }] } }, {}, "ebb-2"],
  ["and the one that several apps share", several, {}, "ebb,ebb-apps"],
  ["which is there beside an image, too", several, { volume: "image" }, "ebb-apps"],
  ["but no image", told("cache"), { volume: "image" }, "cache"],
  ["and nothing where there is nothing to tell", {}, { volume: "image" }, undefined],
])("Cluster Autoscaler is told of %s", (_, given, changes, expected) => {
  expect(changed(given, changes).metadata.annotations[LOCAL_VOLUMES]).toBe(expected);
});

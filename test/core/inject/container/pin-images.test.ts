import { expect, test } from "bun:test";
import { injectPod, removeFromPod } from "../../../../src/core/inject/inject-pod.ts";
import { changed, type Loose, podIn, podOf, policy } from "../injection.ts";
import { digest, imageSays, unknownImage } from "../registry.ts";

const name = "registry.example.com/team/app:1";
const pins = { ...imageSays({}), pinImages: true };
const given = { containers: [{ name: "app", image: name }] };
const imageIn = (pod: Loose): string => pod.spec.containers[0].image;

test.each<[string, object, object, string]>([
  ["by tag", { image: name }, pins, `${name}@${digest}`],
  ["without a tag", { image: "nginx" }, pins, `nginx@${digest}`],
  ["by a digest of its own", { image: `${name}@sha256:00` }, pins, `${name}@sha256:00`],
  ["whose command the manifest says", { image: name, command: ["/app"] }, pins, name],
  ["whose command an annotation says", { image: name }, { ...pins, entrypoints: new Map([["app", ["/app"]]]) }, name],
  ["that starts an ebb of its own", { image: name }, { ...imageSays({ entrypoint: ["/ebb"] }), pinImages: true }, name],
  ["that no registry knows", { image: name }, { ...unknownImage, pinImages: true }, name],
  ["without --pin-images", { image: name }, imageSays({}), name],
])("an image %s is named by: %j", (_, container, changes, image) => {
  expect(imageIn(changed({ containers: [{ name: "app", ...container }] }, changes))).toBe(image);
});

test("a second time changes nothing, also while no registry answers", () => {
  const pod = changed(given, pins);
  expect(injectPod(pod, { ...policy, ...pins }).kind).toBe("unchanged");
  expect(injectPod(pod, { ...policy, ...unknownImage, pinImages: true }).kind).toBe("unchanged");
});

test("what the tag means later is what is pinned later", () => {
  const next = `sha256:${"f".repeat(64)}`;
  const later = injectPod(changed(given, pins), { ...policy, ...imageSays({ digest: next }), pinImages: true });
  expect(imageIn(podIn(later))).toBe(`${name}@${next}`);
});

test("without --pin-images, the digest goes again", () => {
  expect(imageIn(podIn(injectPod(changed(given, pins), { ...policy, ...imageSays({}) })))).toBe(name);
});

test("taken out again, the pod has the image that it had", () => {
  expect(removeFromPod(changed(given, pins))).toMatchObject({ kind: "removed", pod: podOf(given) });
});

test("an image that somebody has changed since stays changed", () => {
  const other = "registry.example.com/team/app:2";
  const pod = structuredClone(changed(given, pins));
  pod.spec.containers[0].image = other;
  expect(imageIn((removeFromPod(pod) as Loose).pod)).toBe(other);
  expect(imageIn(podIn(injectPod(pod, { ...policy, ...pins })))).toBe(`${other}@${digest}`);
});

test("a digest that somebody else has added since stays", () => {
  const pod = structuredClone(changed(given, imageSays({})));
  const own = `${name}@${digest}`;
  pod.spec.containers[0].image = own;
  expect(imageIn(podIn(injectPod(pod, { ...policy, ...imageSays({ entrypoint: ["/new"] }) })))).toBe(own);
  expect(imageIn((removeFromPod(pod) as Loose).pod)).toBe(own);
});

test("a status that claims another image takes no digest away", () => {
  const pinned = `${name}@${digest}`;
  const status = (image: string) =>
    JSON.stringify({ containers: { app: { command: "entrypoint", image: { name: image, digest } } } });
  for (const claimed of ["registry.example.com/team/app", "other", "", `${name}@sha256:0`]) {
    const annotations = { "ebb.dev/status": status(claimed), "ebb.dev/inject": "false" };
    const removed = injectPod(podOf({ containers: [{ name: "app", image: pinned }], annotations }), policy);
    expect(imageIn((removed as Loose).pod)).toBe(pinned);
  }
});

import { expect, test } from "bun:test";
import { app, changed } from "../injection.ts";

test("a pod of root's has its copy made by another user; any other user is the pod's, or the image's", () => {
  const userOf = (securityContext: object) => {
    const { runAsUser, runAsGroup, runAsNonRoot } = changed({ spec: { securityContext } }).spec.initContainers[0]
      .securityContext;
    return [runAsUser, runAsGroup, runAsNonRoot];
  };
  expect(userOf({ runAsUser: 0 })).toEqual([65532, 65532, true]);
  expect(userOf({ runAsUser: 1000, fsGroup: 1000 })).toEqual([undefined, undefined, true]);
  expect(userOf({})).toEqual([undefined, undefined, true]);
});

test.each<[string, object, object, object]>([
  ["the pod's where the app has one that is root's", { runAsUser: 1000 }, { runAsUser: 0 }, {}],
  ["the app's in a pod of root's", { runAsUser: 0 }, { runAsUser: 1000 }, { runAsUser: 1000 }],
  ["with the pod's group", { runAsUser: 0, runAsGroup: 1000 }, {}, { runAsUser: 65532 }],
  ["none that is no number", {}, { runAsUser: "1" }, {}],
])("the user is %s", (_, ofPod, ofApp, expected) => {
  const given = { spec: { securityContext: ofPod }, containers: [app({ securityContext: ofApp })] };
  const { runAsUser, runAsGroup } = changed(given).spec.initContainers[0].securityContext;
  expect<object>({ runAsUser, runAsGroup }).toEqual(expected);
});

const runtimeDefault = { type: "RuntimeDefault" };
const unconfined = { type: "Unconfined" };
const localhost = { type: "Localhost", localhostProfile: "a.json" };

test.each<[string, object, object]>([
  ["none", {}, {}],
  ["a user and a group", { runAsUser: 1500, runAsGroup: 1600 }, { runAsUser: 1500, runAsGroup: 1600 }],
  ["but not root", { runAsUser: 0, runAsGroup: 0 }, { runAsGroup: 0 }],
  ["what SELinux says", { seLinuxOptions: { type: "t" } }, { seLinuxOptions: { type: "t" } }],
  ["a seccomp profile", { seccompProfile: runtimeDefault }, { seccompProfile: runtimeDefault }],
  ["also one of the node's", { seccompProfile: localhost }, { seccompProfile: localhost }],
  ["and never without one", { seccompProfile: unconfined }, { seccompProfile: runtimeDefault }],
  ["an AppArmor profile", { appArmorProfile: runtimeDefault }, { appArmorProfile: runtimeDefault }],
  ["or none", { appArmorProfile: unconfined }, { appArmorProfile: unconfined }],
  ["but none of the node's", { appArmorProfile: localhost }, {}],
  ["and no privileges", { privileged: true, capabilities: { add: ["NET_ADMIN"] }, runAsNonRoot: false }, {}],
])("the copy is made with the security of the first app, restricted: %s", (_, securityContext, expected) => {
  const containers = [app({ securityContext }), app({ name: "b", securityContext: { runAsUser: 7, runAsGroup: 7 } })];
  const { initContainers } = changed({ containers }).spec;
  expect(initContainers[0].securityContext).toEqual({
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    readOnlyRootFilesystem: true,
    runAsNonRoot: true,
    ...expected,
  });
});

test("no profile is added to the pod's", () => {
  const { initContainers } = changed({ spec: { securityContext: { seccompProfile: localhost } } }).spec;
  expect(initContainers[0].securityContext).not.toHaveProperty("seccompProfile");
});

test("where a proxy alone gets ebb, it is like that", () => {
  const containers = [
    app({ command: ["/ebb", "run", "--", "/app"] }),
    { name: "envoy", securityContext: { runAsUser: 7 } },
  ];
  expect(changed({ containers }).spec.initContainers[0].securityContext.runAsUser).toBe(7);
});

test("a seccomp profile in the form before Kubernetes 1.19 counts, too", () => {
  const annotations = { "container.seccomp.security.alpha.kubernetes.io/app": "runtime/default" };
  const { securityContext } = changed({ annotations }).spec.initContainers[0];
  expect(securityContext.seccompProfile).toEqual(runtimeDefault);
});

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { EnvoyNode, PodIdentity } from "../../../../src/core/sidecars/kinds/kind.ts";
import {
  type IdentitySources,
  identityOf,
  type Ownership,
  ownershipOf,
  parseNode,
} from "../../../../src/core/sidecars/ownership/identity.ts";
import { kindOf, type SidecarName } from "../../../../src/core/sidecars/registry.ts";

const uid = "0b6b1c5e-7a0f-4a4c-9c4e-2f6a0c1d2e3f";
const otherUid = "ffffffff-7a0f-4a4c-9c4e-2f6a0c1d2e3f";

function token(payload: unknown): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${encode({ alg: "RS256" })}.${encode(payload)}.signature`;
}

const bound = token({ "kubernetes.io": { namespace: "shop", pod: { name: "web-0", uid } } });

function mount(root: string, point: string): string {
  return `701 600 8:1 ${root} ${point} rw,relatime - ext4 /dev/sda1 rw\n`;
}

describe("which pod this is", () => {
  const whole = { name: "web-0", namespace: "shop", uid };
  const pods = "/var/lib/kubelet/pods";

  test.each<[string, Partial<IdentitySources>, PodIdentity]>([
    ["nothing", {}, {}],
    ["a service account's token", { token: bound }, whole],
    ["the token before all else", { token: bound, name: "a", env: { POD_NAME: "b", POD_NAMESPACE: "c" } }, whole],
    ["a token without a pod", { token: token({ iss: "x" }), accountNamespace: "shop" }, { namespace: "shop" }],
    ["a token that is none", { token: "a.b.c" }, {}],
    ["the downward API's files", { name: "web-0\n", namespace: "shop\n", uid: `${uid}\n` }, whole],
    ["the downward API's variables", { env: { POD_NAME: "web-0", POD_NAMESPACE: "shop", POD_UID: uid } }, whole],
    ["empty variables", { env: { POD_NAME: "", POD_NAMESPACE: "" } }, {}],
    ["a host's name, which is the node's there", { env: { HOSTNAME: "web-0" } }, {}],
    [
      "a name, and the account's namespace",
      { env: { POD_NAME: "web-0" }, accountNamespace: "shop" },
      { name: "web-0", namespace: "shop" },
    ],
    ["the kubelet's /etc/hosts", { mounts: mount(`${pods}/${uid}/etc-hosts`, "/etc/hosts") }, { uid }],
    [
      "its termination log",
      { mounts: mount(`${pods}/${uid}/containers/app/0a1b2c3d`, "/dev/termination-log") },
      { uid },
    ],
    ["its termination log elsewhere", { mounts: mount(`/pods/${uid}/containers/app/0a1b2c3d`, "/tmp/end") }, { uid }],
    [
      "a static pod's",
      { mounts: mount(`${pods}/${"a1".repeat(16)}/etc-hosts`, "/etc/hosts") },
      { uid: "a1".repeat(16) },
    ],
    ["another pod's folder, which this one mounts", { mounts: mount(`${pods}/${otherUid}/volumes/x`, "/other") }, {}],
    ["another pod's file at another place", { mounts: mount(`${pods}/${otherUid}/etc-hosts`, "/other") }, {}],
  ])("is told by %s", (_, sources, identity) => {
    const { name, namespace, uid } = identityOf({ env: {}, ...sources });
    expect({ name, namespace, uid }).toEqual({ name: undefined, namespace: undefined, uid: undefined, ...identity });
  });

  test("no text makes it throw", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (token, mounts, name) => {
        expect(identityOf({ env: {}, token, mounts, name })).toBeObject();
      }),
    );
  });
});

describe("whose a proxy is that names a pod", () => {
  const self = { name: "web-1", namespace: "shop", uid };

  test.each<[string, PodIdentity, PodIdentity, Ownership]>([
    ["the same UID", { uid }, self, "ours"],
    ["another UID, whatever the name", { ...self, uid: otherUid }, self, "another's"],
    ["the same name and namespace", { name: "web-1", namespace: "shop" }, self, "ours"],
    ["a name that begins with ours", { name: "web-10", namespace: "shop" }, self, "another's"],
    ["a name that ours begins with", { name: "web", namespace: "shop" }, self, "another's"],
    ["our name in another namespace", { name: "web-1", namespace: "shop2" }, self, "another's"],
    ["our name alone", { name: "web-1" }, self, "unknown"],
    ["another name alone", { name: "web-2" }, self, "another's"],
    ["nothing", {}, self, "unknown"],
    ["name and namespace, and ours are not known", { name: "web-1", namespace: "shop" }, {}, "unknown"],
    ["name and namespace, and only our UID is known", { name: "web-1", namespace: "shop" }, { uid }, "unknown"],
    [
      "name and namespace, and only our namespace is known, another",
      { name: "web-1", namespace: "a" },
      { namespace: "b" },
      "another's",
    ],
  ])("%s", (_, named, self, owner) => {
    expect(ownershipOf(named, self)).toBe(owner);
  });

  test("it is never ours by a part of a name", () => {
    const name = fc.stringMatching(/^[a-z]([a-z0-9.-]{0,8}[a-z0-9])?$/);
    fc.assert(
      fc.property(name, name, name, name, (name, namespace, ownName, ownNamespace) => {
        const owner = ownershipOf({ name, namespace }, { name: ownName, namespace: ownNamespace });
        expect(owner === "ours").toBe(name === ownName && namespace === ownNamespace);
      }),
    );
  });
});

describe("the pod that an Envoy's node names", () => {
  const kuma = { "dataplane.proxyType": "dataplane" };
  const consul = { node_name: "node1-virtual", namespace: "default", partition: "default" };

  test.each<[SidecarName, string, Partial<EnvoyNode>, PodIdentity | undefined]>([
    [
      "istio",
      "a sidecar",
      { id: "sidecar~10.0.0.7~web-0.shop~shop.svc.cluster.local" },
      { name: "web-0", namespace: "shop" },
    ],
    ["istio", "a pod with dots", { id: "sidecar~::1~web.a.b.shop~shop.svc.x" }, { name: "web.a.b", namespace: "shop" }],
    [
      "istio",
      "a gateway",
      { id: "router~10.0.0.7~gw-0.edge~edge.svc.cluster.local" },
      { name: "gw-0", namespace: "edge" },
    ],
    ["istio", "without a pod", { id: "sidecar~10.0.0.7~~x" }, {}],
    ["istio", "other words", { id: "front~10.0.0.7~web-0.shop~x" }, undefined],
    ["istio", "another mesh's", { id: "default.web-0.shop", metadata: kuma }, undefined],
    ["kuma", "a dataplane", { id: "default.web-0.shop", metadata: kuma }, { name: "web-0", namespace: "shop" }],
    ["kuma", "a pod with dots", { id: "default.web.a.shop", metadata: kuma }, { name: "web.a", namespace: "shop" }],
    ["kuma", "the same ID of another", { id: "default.web-0.shop" }, undefined],
    ["consul", "a service", { id: "web-0-web-sidecar-proxy", cluster: "web", metadata: consul }, { name: "web-0" }],
    [
      "consul",
      "a service with dashes",
      { id: "a-b-c-d-sidecar-proxy", cluster: "c-d", metadata: consul },
      { name: "a-b" },
    ],
    ["consul", "another cluster", { id: "web-0-web-sidecar-proxy", cluster: "x", metadata: consul }, {}],
    ["consul", "the same ID of another", { id: "web-0-web-sidecar-proxy", cluster: "web" }, undefined],
    ["envoy", "name and namespace", { id: "web-0.shop" }, { name: "web-0", namespace: "shop" }],
    ["envoy", "a constant", { id: "job" }, {}],
    ["envoy", "nothing", {}, {}],
    [
      "envoy",
      "its metadata",
      { metadata: { POD_NAME: "web-0", POD_NAMESPACE: "shop" } },
      { name: "web-0", namespace: "shop" },
    ],
    ["envoy", "a UID in its metadata", { id: "a.b", metadata: { POD_UID: uid } }, { uid }],
    ["envoy", "metadata that is no text", { metadata: { POD_NAME: 1 } }, {}],
  ])("%s: %s", (name, _, node, pod) => {
    const named = kindOf(name).podOfNode?.({ id: "", cluster: "", metadata: {}, ...node });
    expect(JSON.parse(JSON.stringify(named ?? null))).toEqual(pod ?? null);
  });

  test("of Linkerd, its environment", () => {
    const read = kindOf("linkerd").podAt?.read;
    const said = { _pod_name: "web-0", _pod_ns: "shop", _pod_uid: uid };
    expect(read?.(JSON.stringify(said))).toEqual({ name: "web-0", namespace: "shop", uid });
    expect(read?.(JSON.stringify({ ...said, _pod_uid: null }))).toEqual({
      name: "web-0",
      namespace: "shop",
      uid: undefined,
    });
    for (const other of ["", "{}", "[]", "null", "not found", '{"_pod_name":"web-0"}'])
      expect(read?.(other)).toBeUndefined();
  });
});

describe("an Envoy's answer to /server_info", () => {
  const info = { version: "a/1.40.0/Clean/RELEASE/BoringSSL", state: "LIVE", command_line_options: {} };

  test.each<[string, unknown]>([
    ["another state", { ...info, state: "UP" }],
    ["no state", { ...info, state: undefined }],
    ["no version", { ...info, version: undefined }],
    ["no command line", { ...info, command_line_options: undefined }],
    ["a list", [info]],
    ["null", null],
  ])("is not %s", (_, body) => {
    expect(parseNode(JSON.stringify(body))).toBeUndefined();
  });

  test.each(["", "OK", "<html>", "{"])("is not %j", (body) => {
    expect(parseNode(body)).toBeUndefined();
  });

  test.each(["LIVE", "DRAINING", "PRE_INITIALIZING", "INITIALIZING"])("is one in the state %s", (state) => {
    expect(parseNode(JSON.stringify({ ...info, state }))).toEqual({ id: "", cluster: "", metadata: {} });
  });

  test("tells its node", () => {
    const node = { id: "job", cluster: "test", metadata: { a: 1 }, extensions: [] };
    expect(parseNode(JSON.stringify({ ...info, node }))).toEqual({ id: "job", cluster: "test", metadata: { a: 1 } });
  });
});

import { expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import type { Secret, WebhookConfiguration } from "../../../src/cluster/api/core/objects.ts";
import { AUTHORITY_MS } from "../../../src/cluster/certificates/core/rotation.ts";
import { type KeyPair, readAuthorities, readSecret } from "../../../src/cluster/certificates/held.ts";
import { collect, temporaryFolder } from "../../harness/ebb.ts";
import { takes } from "../../harness/time.ts";
import { read, request } from "../api.ts";
import { type Namespace, namespace } from "../cluster.ts";
import { kubectl } from "../kubectl.ts";
import type { KubeObject } from "../objects.ts";
import { plantAuthority } from "./plant.ts";

// The certificates of `ebb webhook` on a real API server: replicas, a Secret, a webhook configuration. A CA that ends:
// rotation.test.ts.

const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

/** A configuration that calls for nothing: no pod has this label. */
function configurationOf({ name }: Namespace, clientConfig: object = {}): KubeObject {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name },
    webhooks: [
      {
        name: "pods.ebb.dev",
        clientConfig: { service: { name, namespace: name }, ...clientConfig },
        rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } },
        objectSelector: { matchLabels: { "nobody-has": "this" } },
        ...{ failurePolicy: "Ignore", sideEffects: "None", admissionReviewVersions: ["v1"] },
      },
    ],
  } as KubeObject;
}

interface Replica extends AsyncDisposable {
  /** Each certificate that it served, the latest last. */
  served(): readonly KeyPair[];
  log(): string;
  end(signal: "SIGTERM" | "SIGKILL"): Promise<number>;
}

function startReplica(here: Namespace, kubeconfig?: string): Replica {
  const settings = { name: here.name, names: ["127.0.0.1"], namespace: here.name, kubeconfig };
  const script = join(import.meta.dirname, "certificates-replica.ts");
  const child = Bun.spawn([process.execPath, script, JSON.stringify(settings)], { stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const end = async (signal: "SIGTERM" | "SIGKILL"): Promise<number> => {
    child.kill(signal);
    return await child.exited;
  };
  return {
    served: () =>
      stdout
        .text()
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
    log: stderr.text,
    end,
    [Symbol.asyncDispose]: async () => void (await end("SIGKILL")),
  };
}

async function bundleOf({ name }: Namespace): Promise<string> {
  const configuration = await read<WebhookConfiguration>(`${CONFIGURATIONS}/${name}`);
  return Buffer.from(configuration?.webhooks?.[0]?.clientConfig.caBundle ?? "", "base64").toString();
}

const secretOf = ({ name }: Namespace): string => `${name}-certificates`;
const secretPath = (here: Namespace): string => `/api/v1/namespaces/${here.name}/secrets/${secretOf(here)}`;
const heldIn = async (here: Namespace) => readSecret(await read<Secret>(secretPath(here)));

function isTrusted(cert: string, bundle: string): boolean {
  const leaf = new X509Certificate(cert);
  return readAuthorities(bundle).some((ca) => leaf.verify(new X509Certificate(ca.cert).publicKey));
}

/** A configuration, deleted with the namespace. */
async function arrange(): Promise<Namespace & AsyncDisposable> {
  const here = await namespace();
  await here.apply([configurationOf(here)]);
  const dispose = async (): Promise<void> => {
    await request("DELETE", `${CONFIGURATIONS}/${here.name}`);
    await here[Symbol.asyncDispose]();
  };
  return { ...here, [Symbol.asyncDispose]: dispose };
}

const last = (replica: Replica): string => replica.served().at(-1)?.cert ?? "";
const emptySecret = (here: Namespace): KubeObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: secretOf(here) },
});

test.concurrent.each([
  ["an empty Secret", true],
  ["no Secret, which they may create", false],
])(
  "with %s replicas that start at once agree on one CA, which the API server trusts",
  async (_, isThere) => {
    await using here = await arrange();
    if (isThere) await here.apply([emptySecret(here)]);
    await using a = startReplica(here);
    await using b = startReplica(here);
    await using c = startReplica(here);
    const all = [a, b, c];
    await here.until("all serve", () => all.every((replica) => replica.served().length > 0));
    await here.until("trust", async () => isTrusted(last(a), await bundleOf(here)));
    const { authorities } = await heldIn(here);
    expect(authorities).toHaveLength(1);
    for (const replica of all) {
      expect(replica.served()).toHaveLength(1);
      expect(isTrusted(last(replica), authorities[0]?.cert ?? "")).toBe(true);
    }
    const logs = all.map((replica) => replica.log()).join("");
    expect(logs.split("created a CA")).toHaveLength(2);
    expect(logs).not.toContain('"level":"warn"');
  },
  240_000,
);

test.concurrent("after one replica ends and one is killed, the last one serves on, and keeps the Secret", async () => {
  await using here = await arrange();
  await using first = startReplica(here);
  await here.until("the first serves", () => first.served().length > 0);
  await using second = startReplica(here);
  await using third = startReplica(here);
  await here.until("all serve", () => second.served().length > 0 && third.served().length > 0);
  expect(await first.end("SIGTERM")).toBe(0);
  await second.end("SIGKILL");
  expect(third.served()).toHaveLength(1);
  await request("DELETE", secretPath(here));
  await here.until("the last keeps the Secret", async () => (await heldIn(here)).key !== undefined);
}, 240_000);

test.concurrent("another CA in the Secret, a replica killed, a Secret deleted, a caBundle wiped: what is served is trusted, always", async () => {
  await using here = await arrange();
  await using first = startReplica(here);
  await here.until("the first serves", () => first.served().length > 0);
  await using second = startReplica(here);
  await here.until("the second serves", () => second.served().length > 0);
  await here.until("trust", async () => isTrusted(last(first), await bundleOf(here)));
  const served: string[] = [];
  const distrusted: string[] = [];
  let isWiped = false;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const cert = last(second);
      const bundle = await bundleOf(here);
      if (last(second) !== cert) continue; // which of both met this bundle is not known
      if (served.at(-1) !== cert) served.push(cert);
      if (!isWiped && !isTrusted(cert, bundle)) distrusted.push(`${cert}\n${bundle}`);
      await takes(50);
    }
  })();
  const renewed = async (act: () => Promise<unknown>): Promise<void> => {
    const count = second.served().length;
    await act();
    await here.until("it serves another certificate", () => second.served().length > count);
  };
  await renewed(() => plantAuthority(here, secretOf(here), AUTHORITY_MS));
  await first.end("SIGKILL");
  await renewed(() => request("DELETE", secretPath(here)));
  isWiped = true;
  await here.apply([configurationOf(here, { caBundle: "" })]);
  await here.until("trust is back", async () => isTrusted(last(second), await bundleOf(here)));
  isWiped = false;
  isOver = true;
  await watching;
  expect(distrusted).toEqual([]);
  expect(new Set(served).size).toBeGreaterThan(2);
}, 400_000);

test.concurrent("without permissions: what is missing is told, and it goes on as soon as they are there", async () => {
  await using here = await arrange();
  using folder = temporaryFolder();
  await here.kubectl("create", "serviceaccount", "hook");
  const token = (await here.kubectl("create", "token", "hook")).trim();
  const config = JSON.parse(await kubectl(["config", "view", "--raw", "--minify", "-o", "json"]));
  const path = join(folder.path, "config");
  await Bun.write(path, JSON.stringify({ ...config, users: [{ name: config.users[0].name, user: { token } }] }));
  await using replica = startReplica(here, path);
  const missing = ["secrets", "mutatingwebhookconfigurations"].map((kind) => `cannot list resource \\"${kind}\\"`);
  await here.until("both are told", () => missing.every((words) => replica.log().includes(words)));
  expect(replica.log()).toContain(`User \\"system:serviceaccount:${here.name}:hook\\"`);
  await here.apply(permissions(here));
  try {
    await here.until("it serves", () => replica.served().length > 0);
    await here.until("trust", async () => isTrusted(last(replica), await bundleOf(here)));
  } finally {
    for (const kind of ["clusterroles", "clusterrolebindings"]) {
      await request("DELETE", `/apis/rbac.authorization.k8s.io/v1/${kind}/${here.name}`);
    }
  }
}, 240_000);

/** The least with which it works, and the objects that it fills; `ebb manifests` gives the same. */
function permissions(here: Namespace): readonly KubeObject[] {
  const { name } = here;
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const subjects = [{ kind: "ServiceAccount", name: "hook", namespace: name }];
  const role = (apiGroups: string[], resources: string[], verbs: string[], resourceNames?: string[]) => ({
    apiGroups,
    resources,
    verbs,
    resourceNames,
  });
  const own = [role([""], ["secrets"], ["get", "list", "watch", "update"], [secretOf(here)])];
  const cluster = [
    role(
      ["admissionregistration.k8s.io"],
      ["mutatingwebhookconfigurations"],
      ["get", "list", "watch", "patch"],
      [name],
    ),
  ];
  const roleRef = (kind: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind, name });
  return [
    emptySecret(here),
    { apiVersion, kind: "Role", metadata: { name }, rules: own },
    { apiVersion, kind: "RoleBinding", metadata: { name }, roleRef: roleRef("Role"), subjects },
    { apiVersion, kind: "ClusterRole", metadata: { name }, rules: cluster },
    { apiVersion, kind: "ClusterRoleBinding", metadata: { name }, roleRef: roleRef("ClusterRole"), subjects },
  ] as KubeObject[];
}

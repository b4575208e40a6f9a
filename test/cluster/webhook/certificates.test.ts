import { expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import type { WebhookConfiguration } from "../../../src/kube/certificates/ca-bundle.ts";
import { type KeyPair, readAuthorities, readSecret, type Secret } from "../../../src/kube/certificates/held.ts";
import { collect, temporaryFolder } from "../../harness.ts";
import { takes } from "../../time.ts";
import { read, request } from "../api.ts";
import { type Namespace, namespace } from "../cluster.ts";
import { kubectl } from "../kubectl.ts";
import type { KubeObject } from "../objects.ts";

// The certificates of `ebb webhook` on a real API server: two replicas, a Lease, a Secret, a webhook configuration.

const SECRET = "certs";
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
        clientConfig: { service: { name: "hook", namespace: name }, ...clientConfig },
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

interface Lives {
  readonly validityMs: number;
  readonly authorityValidityMs: number;
}

function startReplica(here: Namespace, identity: string, lives: Lives, kubeconfig?: string): Replica {
  const names = { secret: SECRET, lease: "ebb", service: "hook", webhooks: here.name, names: ["127.0.0.1"] };
  const settings = { ...names, namespace: here.name, identity, kubeconfig, ...lives };
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

const secretPath = ({ name }: Namespace): string => `/api/v1/namespaces/${name}/secrets/${SECRET}`;
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
const DAY_MS = 24 * 3_600_000;
const LONG: Lives = { validityMs: DAY_MS, authorityValidityMs: 10 * DAY_MS };

test.concurrent("two replicas that start at once agree on one CA, which the API server trusts", async () => {
  await using here = await arrange();
  await using a = startReplica(here, "a", LONG);
  await using b = startReplica(here, "b", LONG);
  await here.until("both serve", () => a.served().length > 0 && b.served().length > 0);
  await here.until("trust", async () => isTrusted(last(a), await bundleOf(here)));
  expect(last(a)).toBe(last(b));
  expect((await heldIn(here)).authorities).toHaveLength(1);
  const lease = await here.object<KubeObject & { spec: Record<string, unknown> }>("lease/ebb");
  expect(lease.spec).toMatchObject({ holderIdentity: expect.stringMatching(/^[ab]$/), leaseDurationSeconds: 15 });
}, 240_000);

test.concurrent("a leader that ends hands over at once, one that is killed is replaced; nothing is made anew", async () => {
  await using here = await arrange();
  await using first = startReplica(here, "first", LONG);
  await here.until("the first leads", () => first.log().includes("leads") && first.served().length > 0);
  await using second = startReplica(here, "second", LONG);
  await using third = startReplica(here, "third", LONG);
  await here.until("all serve", () => second.served().length > 0 && third.served().length > 0);
  expect(await first.end("SIGTERM")).toBe(0);
  const next = await here.until("another leads", () =>
    [second, third].find((each) => each.log().includes("acquired the lease: this replica leads")),
  );
  const other = next === second ? third : second;
  await next.end("SIGKILL");
  await here.until("the last leads", () => other.log().includes("acquired the lease: this replica leads"));
  expect(other.served().map(({ cert }) => cert)).toEqual([last(first)]);
  await request("DELETE", secretPath(here));
  await here.until("the last keeps the Secret", async () => (await heldIn(here)).canSign);
}, 240_000);

test.concurrent("short lives, a leader killed, a Secret deleted, a caBundle wiped: what is served is trusted, always", async () => {
  await using here = await arrange();
  const short: Lives = { validityMs: 15_000, authorityValidityMs: 60_000 };
  await using first = startReplica(here, "first", short);
  await here.until("the first serves", () => first.served().length > 0);
  await using second = startReplica(here, "second", short);
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
  await here.until("a second CA", async () => (await heldIn(here)).authorities.length > 1);
  await first.end("SIGKILL");
  await here.until("the second leads", () => second.log().includes("acquired the lease: this replica leads"));
  await here.until("it renews", async () => second.served().length > 3);
  await request("DELETE", secretPath(here));
  await here.until("another CA", () => second.log().includes("its Secret was deleted"));
  const count = second.served().length;
  await here.until("it renews", () => second.served().length > count);
  isWiped = true;
  await here.apply([configurationOf(here, { caBundle: "" })]);
  await here.until("trust is back", async () => isTrusted(last(second), await bundleOf(here)));
  isWiped = false;
  isOver = true;
  await watching;
  expect(distrusted).toEqual([]);
  expect(new Set(served).size).toBeGreaterThan(3);
}, 400_000);

test.concurrent("without permissions: what is missing is told, and it goes on as soon as they are there", async () => {
  await using here = await arrange();
  using folder = temporaryFolder();
  await here.kubectl("create", "serviceaccount", "hook");
  const token = (await here.kubectl("create", "token", "hook")).trim();
  const config = JSON.parse(await kubectl(["config", "view", "--raw", "--minify", "-o", "json"]));
  const path = join(folder.path, "config");
  await Bun.write(path, JSON.stringify({ ...config, users: [{ name: config.users[0].name, user: { token } }] }));
  await using replica = startReplica(here, "a", LONG, path);
  const missing = ['cannot list resource \\"secrets\\"', 'cannot get resource \\"leases\\"'];
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
function permissions({ name }: Namespace): readonly KubeObject[] {
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const subjects = [{ kind: "ServiceAccount", name: "hook", namespace: name }];
  const role = (apiGroups: string[], resources: string[], verbs: string[], resourceNames?: string[]) => ({
    apiGroups,
    resources,
    verbs,
    resourceNames,
  });
  const own = [
    role([""], ["secrets"], ["get", "list", "watch", "update"], [SECRET]),
    role(["coordination.k8s.io"], ["leases"], ["get", "update"], ["ebb"]),
  ];
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
    { apiVersion: "v1", kind: "Secret", metadata: { name: SECRET } },
    { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "ebb" } },
    { apiVersion, kind: "Role", metadata: { name }, rules: own },
    { apiVersion, kind: "RoleBinding", metadata: { name }, roleRef: roleRef("Role"), subjects },
    { apiVersion, kind: "ClusterRole", metadata: { name }, rules: cluster },
    { apiVersion, kind: "ClusterRoleBinding", metadata: { name }, roleRef: roleRef("ClusterRole"), subjects },
  ] as KubeObject[];
}

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { request } from "../api.ts";
import { images, type Namespace } from "../cluster.ts";
import { type Container, type Pod, podOf } from "../objects.ts";
import { inject } from "../webhook/installation.ts";
import { sidecarKind } from "./istio.ts";
import { type Order, startWebhooks, type Webhooks } from "./webhooks.ts";

// Istio's own injector beside ebb's webhook: what becomes of a pod, in dry runs, through all admission.

let webhooks: Webhooks;

beforeAll(async () => {
  webhooks = await startWebhooks();
}, 300_000);

afterAll(async () => {
  await webhooks?.[Symbol.asyncDispose]();
});

const serving = { restartPolicy: "Always", terminationGracePeriodSeconds: 40 } as const;
const app = {
  name: "app",
  image: images.app,
  command: ["/child", "record"],
  ports: [{ containerPort: 8081 }],
  readinessProbe: { httpGet: { path: "/", port: 8081 } },
};

const hooks = {
  proxy: ["/ebb.dev/ebb", "hold", "--sidecar=istio"],
  istios: ["pilot-agent", "request", "--debug-port=15020", "POST", "drain"],
};

describe("a pod that serves is the same, whichever webhook is asked first,", () => {
  test.concurrent.each([
    ["an ordinary one", false],
    ["a native one", true],
  ] as const)("with Istio's sidecar as %s", async (_, isNative) => {
    const [before, after] = await Promise.all([
      created("before Istio's", isNative),
      created("after Istio's", isNative),
    ]);
    expect(before).toEqual(after);
    expect(initsOf(before)).toEqual(["ebb-install", "istio-init", ...(isNative ? ["istio-proxy"] : [])]);
    expect(hooksOf(before)).toEqual({ "istio-proxy": isNative ? hooks.istios : hooks.proxy });
    expect(before.spec.containers[0]?.env).toContainEqual({ name: "EBB_DRAIN", value: "34s" });
    expect(before.spec.containers[0]?.command).toEqual(["/ebb.dev/ebb", "run", "--", "/child", "record"]);
    expect(before.metadata.annotations?.["ebb.dev/native"]).toBe(isNative ? "istio" : undefined);
  });
});

test.concurrent.each([
  ["before Istio's", 422, /there is no container "istio-proxy"/],
  ["after Istio's", 201, /^$/],
] as const)(
  "ebb's webhook is asked %s: it sees a pod without Istio's sidecar, or with it",
  async (order, code, reason) => {
    await using here = await webhooks.namespace(order);
    const named = {
      "ebb.dev/apps": "app,istio-proxy",
      "ebb.dev/entrypoint.istio-proxy": "/usr/local/bin/pilot-agent",
    };
    const { status, message = "" } = await tryCreate(here, { ...sidecarKind(false), ...named });
    expect({ status, message }).toEqual({ status: code, message: expect.stringMatching(reason) });
  },
);

async function created(order: Order, isNative: boolean): Promise<Pod> {
  await using here = await webhooks.namespace(order);
  const { metadata, spec } = await tryCreate(here, sidecarKind(isNative));
  const { annotations = {}, labels = {} } = metadata;
  return JSON.parse(withoutNames(JSON.stringify({ metadata: { annotations, labels }, spec }), here), inOrder);
}

/** Mounts mean the same in any order: that of the ServiceAccount's token is added between two calls. */
function inOrder(key: string, value: unknown): unknown {
  if (key !== "volumeMounts") return value;
  return (value as readonly Mount[]).toSorted((a, b) => a.mountPath.localeCompare(b.mountPath));
}

interface Mount {
  readonly mountPath: string;
}

interface Created extends Pod {
  /** A refusal's. */
  readonly message?: string;
}

async function tryCreate({ name }: Namespace, annotations: Readonly<Record<string, string>>) {
  const pod = podOf("one", { ...serving, containers: [app] }, { annotations: { ...inject, ...annotations } });
  const { status, text } = await request("POST", `/api/v1/namespaces/${name}/pods?dryRun=All`, pod);
  return { ...(JSON.parse(text) as Created), status };
}

/** The namespace's, and that of the volume with the ServiceAccount's token. */
function withoutNames(text: string, { name }: Namespace): string {
  return text.replaceAll(name, "NAMESPACE").replace(/kube-api-access-\w+/g, "kube-api-access");
}

function initsOf({ spec }: Pod): readonly string[] {
  return (spec.initContainers ?? []).map(({ name }) => name);
}

function hooksOf({ spec }: Pod): object {
  const all = [...(spec.initContainers ?? []), ...spec.containers] as (Container & Hooked)[];
  const hooked = all.filter(({ lifecycle }) => lifecycle?.preStop !== undefined);
  return Object.fromEntries(hooked.map(({ name, lifecycle }) => [name, lifecycle?.preStop?.exec.command]));
}

interface Hooked {
  readonly lifecycle?: { readonly preStop?: { readonly exec: { readonly command: readonly string[] } } };
}

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { Namespace } from "../cluster/cluster.ts";
import { configMapOf, type KubeObject, type Pod } from "../cluster/objects.ts";
import { compiledProgram } from "../sidecars/compile.ts";
import { define } from "./definitions.ts";
import { images, outsideMesh } from "./mesh.ts";

const controller = "workflow-controller";

/** A workflow's state. */
export interface Workflow extends KubeObject {
  readonly status?: {
    readonly phase?: "Pending" | "Running" | "Succeeded" | "Failed" | "Error";
    readonly message?: string;
    readonly nodes?: Readonly<Record<string, WorkflowNode>>;
  };
}

interface WorkflowNode {
  readonly type: string;
  readonly displayName: string;
  readonly phase: string;
  readonly message?: string;
  readonly outputs?: { readonly exitCode?: string };
}

/**
 * Installs Argo Workflows in a namespace, for its workflows alone, as its own manifests/namespace-install does. Its
 * controller has neither a sidecar nor ebb.
 */
export async function startArgo(here: Namespace): Promise<void> {
  const { file } = compiledProgram("argo-workflow-controller");
  const crds = readdirSync(file("minimal")).filter((name) => name.startsWith("argoproj.io_"));
  const files = crds.flatMap((name) => ["-f", join(file("minimal"), name)]);
  await define(files);
  const roles = ["workflow-controller-role.yaml", "executor-role.yaml"].map(
    (name) => parse(readFileSync(file(name), "utf8")) as KubeObject,
  );
  await here.apply([
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "argo" } },
    ...roles,
    bound(roles[0] as KubeObject, "argo", here),
    bound(roles[1] as KubeObject, "default", here),
    configMapOf("workflow-controller-configmap", {}),
    controllerIn(here),
  ]);
  await here.kubectl("rollout", "status", `deployment/${controller}`, "--timeout=120s");
}

function bound({ metadata: { name } }: KubeObject, account: string, { name: namespace }: Namespace): KubeObject {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
    subjects: [{ kind: "ServiceAccount", name: account, namespace }],
  };
}

function controllerIn({ name: namespace }: Namespace): KubeObject {
  return outsideMesh(controller, {
    serviceAccountName: "argo",
    securityContext: { runAsNonRoot: true, runAsUser: 8737 },
    containers: [
      {
        name: controller,
        image: images.workflowController,
        args: ["--namespaced", "--executor-image", images.argoexec],
        env: [
          { name: "LEADER_ELECTION_DISABLE", value: "true" },
          { name: "ARGO_NAMESPACE", value: namespace },
          { name: "DEFAULT_REQUEUE_TIME", value: "1s" }, // by default it looks at a workflow again after 10 s
        ],
        readinessProbe: { httpGet: { path: "/healthz", port: 6060 } },
        resources: { requests: { cpu: "200m" } },
      },
    ],
  });
}

/** Returns a workflow whose pods have these annotations, and whose template `all` is the first. */
export function workflowOf(
  name: string,
  annotations: Readonly<Record<string, string>>,
  ...templates: readonly object[]
): KubeObject {
  return {
    ...{ apiVersion: "argoproj.io/v1alpha1", kind: "Workflow", metadata: { name } },
    spec: { entrypoint: "all", podMetadata: { annotations }, templates },
  };
}

const LIMIT_MS = 240_000;

/** Waits until a workflow has ended, and resolves with it. */
export async function ended(here: Namespace, name: string): Promise<Workflow> {
  return await here.until(
    `the workflow ${name} has ended`,
    async () => {
      const workflow = await here.object<Workflow>(`workflow/${name}`);
      return ["Succeeded", "Failed", "Error"].includes(workflow.status?.phase ?? "") ? workflow : undefined;
    },
    LIMIT_MS,
  );
}

/** Waits until all pods of a workflow have ended, and resolves with them, in the order of their creation. */
export async function endedPods(here: Namespace, name: string): Promise<readonly Pod[]> {
  return await here.until(`all pods of ${name} have ended`, async () => {
    const pods = await here.pods(`workflows.argoproj.io/workflow=${name}`);
    const isOver = pods.every(({ status }) => status.phase === "Succeeded" || status.phase === "Failed");
    return isOver && pods.toSorted((one, other) => createdAt(one) - createdAt(other));
  });
}

/** Reports whether the controller has signalled a container of a pod, by its log: SIGTERM first, then SIGKILL. */
export async function hasSignalled(
  here: Namespace,
  pod: string,
  container: string,
  action: "terminateContainers" | "killContainers",
): Promise<boolean> {
  const { metadata } = await here.podOf(controller);
  const log = await here.logs(metadata.name, controller);
  const fields = ['msg="signaled container"', `pod=${pod}`, `container=${container}`, `action=${action}`];
  return log.split("\n").some((line) => fields.every((field) => line.includes(field)));
}

function createdAt({ metadata }: Pod): number {
  return Date.parse(String(metadata.creationTimestamp));
}

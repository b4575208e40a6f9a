import type { Requirement } from "../../core/cli/cluster/label-selector.ts";
import { WEBHOOK } from "../../core/cluster/installed.ts";
import { ASK, STATUS } from "../../core/inject/annotation-names.ts";
import { MUTATE_NAMESPACE_PATH, MUTATE_PATH } from "../../core/inject/paths.ts";
import { type Installation, type Manifest, metadataOf, nameOf, namespaceOf } from "./installation.ts";

/**
 * Returns the webhook's MutatingWebhookConfiguration: which pods the API server asks it about, and what happens if it
 * does not answer.
 */
export function admissionManifest(installation: Installation): Manifest {
  const { certManager, failurePolicy } = installation;
  const namespace = namespaceOf(installation, "webhook");
  const metadata = metadataOf(installation, "webhook");
  const injectFrom = { "cert-manager.io/inject-ca-from": `${namespace}/${metadata.name}` };
  return {
    about: "Which pods the API server asks the webhook about.",
    object: {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "MutatingWebhookConfiguration",
      metadata: certManager ? { ...metadata, annotations: injectFrom } : metadata,
      webhooks: webhooksOf(installation),
    },
    notes: {
      "webhooks.0.clientConfig": `caBundle comes from ${certManager ? "cert-manager's cainjector" : "the webhook itself"}.`,
      "webhooks.0.matchConditions": "No other pod ever waits for the webhook.",
      "webhooks.0.failurePolicy": failurePolicyNote[failurePolicy],
      "webhooks.0.reinvocationPolicy": "A mesh's injector may change the pod later: then ebb looks at it again.",
    },
  };
}

/**
 * Lists the webhooks; each pod matches at most one. Without --all there is one for pods in namespaces with the label
 * ebb.dev/inject=true, and one for all others.
 */
function webhooksOf(installation: Installation) {
  if (installation.all) {
    return [webhook(installation, { name: WEBHOOK, path: MUTATE_PATH, condition: notOptedOut, label: notIn("false") })];
  }
  const ofPods = { name: WEBHOOK, path: MUTATE_PATH, condition: optedIn, label: notIn("true", "false") };
  const label = { key: ASK, operator: "In", values: ["true"] } as const;
  const ofNamespaces = { name: `namespace.${WEBHOOK}`, path: MUTATE_NAMESPACE_PATH, condition: notOptedOut, label };
  return [webhook(installation, ofPods), webhook(installation, ofNamespaces)];
}

interface WebhookSelection {
  readonly name: string;
  readonly path: string;
  /** What the pod must match, in CEL. */
  readonly condition: { readonly name: string; readonly expression: string };
  /** What its namespace must match. */
  readonly label: Requirement;
}

function webhook(installation: Installation, { name, path, condition, label }: WebhookSelection) {
  const namespace = namespaceOf(installation, "webhook");
  const { selector, namespaceSelector, failurePolicy, timeoutSeconds } = installation;
  return {
    name,
    clientConfig: { service: { namespace, name: nameOf(installation, "webhook"), path, port: 443 } },
    rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], scope: "Namespaced" }],
    matchConditions: [condition],
    namespaceSelector: { matchExpressions: [notOurs(namespace), label, ...namespaceSelector] },
    ...(selector.length === 0 ? {} : { objectSelector: { matchExpressions: selector } }),
    failurePolicy,
    reinvocationPolicy: "IfNeeded",
    sideEffects: "None",
    timeoutSeconds,
    admissionReviewVersions: ["v1"],
  };
}

const isAnnotated = `has(object.metadata.annotations) && '${ASK}' in object.metadata.annotations`;
/** Holds if the pod does not say "false", or if ebb is in it all the same and must be taken out. */
const isNotFalse = `(object.metadata.annotations['${ASK}'] != 'false' || '${STATUS}' in object.metadata.annotations)`;

/**
 * Holds if the pod asks for ebb. It holds, too, if the annotation is neither true nor false: the webhook tells its
 * author.
 */
const optedIn = { name: "opted-in", expression: `${isAnnotated} && ${isNotFalse}` };
const notOptedOut = { name: "not-opted-out", expression: `!(${isAnnotated}) || ${isNotFalse}` };

/** Excludes the cluster's own pods, and those of the webhook, which start before it is there. */
function notOurs(namespace: string): Requirement {
  return { key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["kube-system", namespace] };
}

/** Requires a namespace without the label, or with none of these values. */
function notIn(...values: readonly string[]): Requirement {
  return { key: ASK, operator: "NotIn", values };
}

const failurePolicyNote = {
  Ignore: "A pod starts without ebb where the webhook does not answer.",
  Fail: "A pod is refused where the webhook does not answer.",
} as const;

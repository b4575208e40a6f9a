import type { Requirement } from "../../core/label-selector.ts";
import { STATUS } from "../../core/patch-status.ts";
import { type Installation, type Manifest, metadataOf, nameOf, namespaceOf } from "./installation.ts";

/** The webhook's registration: which pods the API server asks it about, and what happens where it does not answer. */
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
      webhooks: [webhook(installation)],
    },
    notes: {
      "webhooks.0.clientConfig": `caBundle comes from ${certManager ? "cert-manager's cainjector" : "the webhook itself"}.`,
      "webhooks.0.matchConditions": "No other pod ever waits for the webhook.",
      "webhooks.0.failurePolicy": failurePolicyNote[failurePolicy],
      "webhooks.0.reinvocationPolicy": "A mesh's injector may change the pod later: then ebb looks at it again.",
    },
  };
}

function webhook(installation: Installation) {
  const namespace = namespaceOf(installation, "webhook");
  const { all, selector, namespaceSelector, failurePolicy, timeoutSeconds } = installation;
  return {
    name: "inject.ebb.dev",
    clientConfig: { service: { namespace, name: nameOf(installation, "webhook"), path: "/mutate", port: 443 } },
    rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], scope: "Namespaced" }],
    matchConditions: [all ? notOptedOut : optedIn],
    namespaceSelector: { matchExpressions: [...notOurs(namespace), ...namespaceSelector] },
    ...(selector.length === 0 ? {} : { objectSelector: { matchExpressions: selector } }),
    failurePolicy,
    reinvocationPolicy: "IfNeeded",
    sideEffects: "None",
    timeoutSeconds,
    admissionReviewVersions: ["v1"],
  };
}

const ANNOTATION = "ebb.dev/inject";
const isAnnotated = `has(object.metadata.annotations) && '${ANNOTATION}' in object.metadata.annotations`;
/** Or ebb is in it all the same, and is to be taken out. */
const isNotFalse = `(object.metadata.annotations['${ANNOTATION}'] != 'false' || '${STATUS}' in object.metadata.annotations)`;

/** What is neither true nor false is asked about too: its user is told. */
const optedIn = { name: "opted-in", expression: `${isAnnotated} && ${isNotFalse}` };
const notOptedOut = { name: "not-opted-out", expression: `!(${isAnnotated}) || ${isNotFalse}` };

/** Not the cluster's own pods, nor those of the webhook, which starts before it is there; nor a namespace that opted out. */
function notOurs(namespace: string): readonly Requirement[] {
  return [
    { key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["kube-system", namespace] },
    { key: ANNOTATION, operator: "NotIn", values: ["false"] },
  ];
}

const failurePolicyNote = {
  Ignore: "A pod starts without ebb where the webhook does not answer.",
  Fail: "A pod is refused where the webhook does not answer.",
} as const;

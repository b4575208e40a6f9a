// The names by which the parts of an installation find each other.

/** The label that tells the components of ebb apart: `webhook` or `reaper`. */
export const COMPONENT_LABEL = "app.kubernetes.io/component";
/** The label that is `ebb` on all objects that `ebb manifests` prints. */
export const NAME_LABEL = "app.kubernetes.io/name";
/** The label selector of these objects. */
export const OBJECTS = `${NAME_LABEL}=ebb`;
/** The name of ebb's webhooks in a MutatingWebhookConfiguration, or its end. */
export const WEBHOOK = "inject.ebb.dev";
/** How the message begins with which the webhook refuses a pod. */
export const POD_REFUSED = "ebb cannot be put into this pod: ";

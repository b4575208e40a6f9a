// Names of Kubernetes objects: apimachinery, pkg/util/validation.

/**
 * A label of RFC 1123. It names a Namespace or a container; labels joined by dots (a subdomain) name most other
 * objects.
 */
const LABEL = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

/**
 * Reports whether a text is a DNS label of RFC 1123, as namespace names are: a-z, 0-9 and `-`, at most 63 characters.
 */
export function isDnsLabel(text: string): boolean {
  return text.length <= 63 && LABEL.test(text);
}

/**
 * Reports whether a text is a DNS subdomain of RFC 1123, as the names of most Kubernetes objects are: labels joined by
 * dots, at most 253 characters.
 */
export function isDnsSubdomain(text: string): boolean {
  return text.length <= 253 && text.split(".").every((label) => LABEL.test(label));
}

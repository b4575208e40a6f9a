// Names of Kubernetes' objects: apimachinery, pkg/util/validation.

/** RFC 1123: what names a Namespace, a Service, a container; and, as subdomain with dots, most other objects. */
const LABEL = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

export function isDnsLabel(text: string): boolean {
  return text.length <= 63 && LABEL.test(text);
}

export function isDnsSubdomain(text: string): boolean {
  return text.length <= 253 && text.split(".").every((label) => LABEL.test(label));
}

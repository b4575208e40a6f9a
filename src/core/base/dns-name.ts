// Names of Kubernetes' objects: apimachinery, pkg/util/validation.

/** RFC 1123: what names a Namespace, a Service, a container; and, as subdomain with dots, most other objects. */
const LABEL = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

/** Whether a text is a DNS label of RFC 1123, as names of namespaces are: at most 63 characters. */
export function isDnsLabel(text: string): boolean {
  return text.length <= 63 && LABEL.test(text);
}

/** Whether a text is a DNS subdomain of RFC 1123, as most names of objects are: labels and dots, at most 253 characters. */
export function isDnsSubdomain(text: string): boolean {
  return text.length <= 253 && text.split(".").every((label) => LABEL.test(label));
}

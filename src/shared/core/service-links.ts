/**
 * Reports whether an environment variable is one that Kubernetes sets for a Service (a service link), and so no user's
 * setting: a Service may be called `ebb`, `ebb-admin` or `dapr-http`.
 *
 * Name and value must have the kubelet's form (kubernetes, pkg/kubelet/envvars/envvars.go). No option's variable ends
 * as these names do, except `NAME_PORT`, whose value is then `tcp://10.96.0.5:443`.
 */
export function isServiceLink(name: string, value: string): boolean {
  if (name.endsWith("_PORT") && value.includes("://")) return isAddress(value);
  if (!name.includes("_SERVICE_") && !name.includes("_PORT_")) return false; // an ordinary name costs a start nothing
  if (/_SERVICE_HOST$|_PORT_\d{1,5}_(TCP|UDP|SCTP)_ADDR$/.test(name)) return /^[0-9a-f.:]+$/i.test(value);
  const isPort = name.includes("_SERVICE_PORT_") || /_SERVICE_PORT$|_PORT_\d{1,5}_(TCP|UDP|SCTP)_PORT$/.test(name);
  if (isPort) return /^\d{1,5}$/.test(value);
  if (/_PORT_\d{1,5}_(TCP|UDP|SCTP)_PROTO$/.test(name)) return /^(tcp|udp|sctp)$/.test(value);
  return /_PORT_\d{1,5}_(TCP|UDP|SCTP)$/.test(name) && isAddress(value);
}

function isAddress(value: string): boolean {
  return /^(tcp|udp|sctp):\/\/(\[[0-9a-f.:]+\]|[0-9.]+):\d{1,5}$/i.test(value);
}

/**
 * Whether Kubernetes set this variable for a Service, which may be called `ebb`, `ebb-admin` or `dapr-http`. Such a variable is no
 * setting of a user.
 *
 * The forms are the kubelet's (kubernetes, pkg/kubelet/envvars/envvars.go): no option's variable ends as these do, but for
 * `NAME_PORT`, whose value is `tcp://10.96.0.5:443`. An ordinary name costs a start nothing.
 */
export function isServiceLink(name: string, value: string): boolean {
  if (name.endsWith("_PORT") && value.includes("://")) return isAddress(value);
  if (!name.includes("_SERVICE_") && !name.includes("_PORT_")) return false;
  if (/_SERVICE_HOST$|_PORT_\d{1,5}_(TCP|UDP|SCTP)_ADDR$/.test(name)) return /^[0-9a-f.:]+$/i.test(value);
  const isPort = name.includes("_SERVICE_PORT_") || /_SERVICE_PORT$|_PORT_\d{1,5}_(TCP|UDP|SCTP)_PORT$/.test(name);
  if (isPort) return /^\d{1,5}$/.test(value);
  if (/_PORT_\d{1,5}_(TCP|UDP|SCTP)_PROTO$/.test(name)) return /^(tcp|udp|sctp)$/.test(value);
  return /_PORT_\d{1,5}_(TCP|UDP|SCTP)$/.test(name) && isAddress(value);
}

function isAddress(value: string): boolean {
  return /^(tcp|udp|sctp):\/\/(\[[0-9a-f.:]+\]|[0-9.]+):\d{1,5}$/i.test(value);
}

import { portOf, type Shown, type ShownContainer, type SidecarKind } from "./kind.ts";

/**
 * A plain Envoy, by its admin interface (envoyproxy.io, operations/admin), whose usual port is 9901. Each of `ports` is
 * asked as an admin interface.
 */
export const envoy = {
  role: "proxy",
  admin: "http://localhost:9901",
  drainPath: "/drain_listeners?graceful&skip_exit",
  ready: "http://localhost:9901/ready",
  readyPath: "/ready",
  quit: "http://localhost:9901/quitquitquit",
  quitPath: "/quitquitquit",
  alwaysOpen: "admin",
  ports: [9901, 8001, 19000],
  userVariables: ["ENVOY_KILL_API"],
  annotation: undefined,
  isNative: () => false,
  refusals: () => ({
    403: "Envoy's admin interface does not allow this path (admin.allow_paths); allow /quitquitquit",
    404: "no such path: is this Envoy's admin interface? If it is elsewhere, set --admin to its URL",
    405: "Envoy accepts only POST; use --quit 'POST URL'",
  }),
  // images envoyproxy/envoy, -distroless, -contrib, ...; App Mesh and OSM name the container envoy, consul-k8s before
  // 1.0 envoy-sidecar
  containers: () => ({
    name: /^envoy(-proxy|-sidecar)?$/,
    image: /^envoy(-distroless|-contrib|-alpine|-debug|-dev)*$/,
  }),
  inManifest,
  programs: ["envoy"],
  annotationPrefixes: [],
  needsHook: true,
  stopsAtOnce: true,
} as const satisfies SidecarKind;

/** What ebb knows of this sidecar, and how it is known; `readFacts` parses it. */
export const facts = `
admin | ran Envoy 1.40.0, test/envoy/admin.test.ts
ready | ran Envoy 1.40.0, test/envoy/run.test.ts
quit | ran Envoy 1.40.0, test/envoy/run.test.ts | it ends at once with 0, and leaves the file of a unix socket behind
alwaysOpen | ran Envoy 1.40.0, test/envoy/run.test.ts | it answers while Envoy still waits for its configuration, and until it has ended
refusals | ran Envoy 1.40.0, test/envoy/admin.test.ts
drain | ran Envoy 1.40.0, test/envoy/drain.test.ts | \`/ready\` stays 200: only /healthcheck/fail changes it
count | ran Envoy 1.40.0, test/envoy/drain.test.ts | requests of HTTP listeners, connections of the others
found | ran Envoy 1.40.0, test/envoy/run.test.ts
identity | ran Envoy 1.40.0, test/envoy/found-by-port.test.ts | with a node of no mesh, or none
container | read envoyproxy/envoy 11ade9d distribution/docker/Dockerfile-envoy; consul-k8s 0.49; AWS App Mesh and OSM injectors
`;

/** The keys of an admin interface that may stand before its port (envoyproxy.io, api-v3/config/bootstrap/v3, Admin). */
const adminKeys: ReadonlySet<string> = new Set(
  "access_log_path profile_path ignore_global_conn_limit address socket_address protocol ipv4_compat".split(" "),
);

/** Returns the admin port that `--config-yaml` sets (envoyproxy.io, operations/cli). What a file says is not seen. */
function inManifest({ words }: ShownContainer): Shown {
  const at = words.findIndex((word) => /^--config-yaml(=|$)/.test(word));
  const yaml = at < 0 ? "" : words.slice(at).join(" ");
  const [, admin = ""] = /(?:^|[\s{,'"=])admin['"]?:(.*)/.exec(yaml) ?? [];
  for (const [, key = "", digits] of admin.matchAll(/\b([a-z]\w*)['"]?:\s*['"]?(\d*)/g)) {
    const port = key === "port_value" ? portOf(digits) : undefined;
    if (port !== undefined) return { port };
    if (!adminKeys.has(key)) return {};
  }
  return {};
}

import { type HttpTarget, parseHttpTarget } from "../shared/core/address.ts";
import type { SettingsBuilder } from "./tool.ts";
import type { Variables } from "./variables.ts";

// What scuttle and envoy-preflight share: ENVOY_ADMIN_API says where Envoy is; without it they only run the command.

/** The admin interface that ENVOY_ADMIN_API names. */
export interface AdminUrl {
  /** The variable's value without slashes at its end. */
  readonly url: string;
  readonly target: HttpTarget;
}

const ADMIN = "ENVOY_ADMIN_API";

/**
 * Adds the settings that follow from ENVOY_ADMIN_API: where the admin interface is, and that it is ready when
 * /server_info says LIVE. Returns undefined if the variable is not set, so that nothing is waited for or quit: then
 * adds a note for each variable of `idle` (they say how to wait and quit) that is set.
 */
export function addAdmin(
  sidecar: "istio" | "envoy",
  { variables, builder, idle }: { variables: Variables; builder: SettingsBuilder; idle: readonly string[] },
): AdminUrl | undefined {
  const url = variables.base(ADMIN);
  if (url === undefined) {
    builder.add("sidecar", `no ${ADMIN}`, "none");
    for (const variable of variables.among(idle)) {
      builder.note({
        fields: { variable, needs: ADMIN },
        message: "ignored an environment variable: it needs another one, which is not set",
      });
    }
    return undefined;
  }
  builder.add("sidecar", ADMIN, sidecar);
  builder.add("admin", ADMIN, url);
  builder.add("ready-path", ADMIN, "/server_info");
  if (variables.isTrue("START_WITHOUT_ENVOY")) builder.add("no-wait", "START_WITHOUT_ENVOY", "true");
  return { url, target: parseHttpTarget(url) as HttpTarget };
}

/**
 * Reports whether an admin interface is in this pod: a Unix socket or a loopback host. scuttle and envoy-preflight quit
 * no other.
 */
export function isLocal({ target }: AdminUrl): boolean {
  if (target.address.kind === "unix") return true;
  const { host } = target.address;
  // ::ffff:7f is the beginning of IPv4's loopback, as URLs write it in IPv6
  return host === "localhost" || host === "::1" || host.startsWith("127.") || host.startsWith("::ffff:7f");
}

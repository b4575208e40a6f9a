import { type HttpTarget, parseHttpTarget } from "../core/base/address.ts";
import type { SettingsBuilder } from "./settings-builder.ts";
import type { Variables } from "./variables.ts";

/** What scuttle and envoy-preflight share: ENVOY_ADMIN_API says where Envoy is; without it they only run the command. */
export interface EnvoyAdmin {
  /** As the variable has it, without a slash at its end. */
  readonly url: string;
  readonly target: HttpTarget;
}

const ADMIN = "ENVOY_ADMIN_API";

/**
 * Says where the admin interface is, and that it is ready when /server_info says LIVE. Undefined where the variable is not set:
 * nothing is then waited for or quit, and of `idle`, the variables that say how, those that are set are named.
 */
export function addAdmin(
  sidecar: "istio" | "envoy",
  { variables, builder, idle }: { variables: Variables; builder: SettingsBuilder; idle: readonly string[] },
): EnvoyAdmin | undefined {
  const url = variables.base(ADMIN);
  if (variables.text(ADMIN) === undefined) {
    builder.add("sidecar", `no ${ADMIN}`, "none");
    for (const variable of variables.among(idle)) {
      builder.note({
        fields: { variable, needs: ADMIN },
        message: "ignored an environment variable: another one is not set",
      });
    }
    return undefined;
  }
  if (url === undefined) return undefined;
  builder.add("sidecar", ADMIN, sidecar);
  builder.add("admin", ADMIN, url);
  builder.add("ready-path", ADMIN, "/server_info");
  if (variables.isTrue("START_WITHOUT_ENVOY")) builder.add("no-wait", "START_WITHOUT_ENVOY", "true");
  return { url, target: parseHttpTarget(url) as HttpTarget };
}

/** Whether an Envoy's admin interface is on this pod's loopback: scuttle and envoy-preflight quit no other. */
export function isLocal({ target }: EnvoyAdmin): boolean {
  if (target.address.kind === "unix") return true;
  const { host } = target.address;
  // ::ffff:7f: IPv4's loopback, as URLs write it in IPv6
  return host === "localhost" || host === "::1" || host.startsWith("127.") || host.startsWith("::ffff:7f");
}

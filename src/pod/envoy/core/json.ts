import * as z from "zod/mini";
import { isLoopback } from "../../../shared/core/address.ts";
import { formatHostPort } from "../../../shared/core/host-port.ts";
import type { BoundListener, DumpedListener } from "./scope.ts";

// Envoy's answers in JSON, checked by zod. Import it lazily, only to read an answer: loading zod takes 1.2 ms.

const address = z.object({
  socket_address: z.optional(z.object({ address: z.string(), port_value: z.optional(z.number()) })),
  pipe: z.optional(z.object({ path: z.string() })),
});

const listener = z.object({
  name: z.optional(z.string()),
  address: z.optional(address),
  stat_prefix: z.optional(z.string()),
  traffic_direction: z.optional(z.string()),
});

const listenerDump = z.object({
  configs: z.optional(
    z.array(
      z.object({
        listener: z.optional(listener),
        active_state: z.optional(z.object({ listener: z.optional(listener) })),
      }),
    ),
  ),
});

const listenerStatuses = z.object({
  listener_statuses: z.optional(
    z.array(z.object({ name: z.optional(z.string()), local_address: z.optional(address) })),
  ),
});

/** envoyproxy.io, api-v3/admin/v3/server_info.proto. */
const serverInfo = z.object({
  state: z.string(),
  version: z.optional(z.string()),
  uptime_current_epoch: z.optional(z.string()),
  command_line_options: z.optional(
    z.object({
      restart_epoch: z.optional(z.number()),
      drain_time: z.optional(z.string()),
      drain_strategy: z.optional(z.string()),
    }),
  ),
});

/**
 * The admin path of the listeners in Envoy's bootstrap, with their direction, a few lines each (envoyproxy.io,
 * operations/admin, /config_dump). `parseListenerDump` reads the answer.
 */
export const staticListenersPath = `/config_dump?resource=static_listeners&mask=${["name", "address", "stat_prefix", "traffic_direction"].map((field) => `listener.${field}`).join()}`;

/**
 * The admin path of the listeners that a control plane has set, with their direction. Envoy returns them in full, about
 * 5 KB each: it cannot apply a mask inside an Any (config_dump_handler.cc, trimResourceMessage: HTTP 400).
 */
export const dynamicListenersPath = "/config_dump?resource=dynamic_listeners&mask=name,active_state.listener";

/** Parses the listeners in a config_dump. Returns undefined if the text is not a config_dump. */
export function parseListenerDump(text: string): readonly DumpedListener[] | undefined {
  const dump = parse(listenerDump, text);
  if (dump === undefined) return undefined;
  return (dump.configs ?? []).flatMap((config) => {
    const found = config.listener ?? config.active_state?.listener;
    if (found === undefined) return [];
    const port = found.address?.socket_address?.port_value;
    const direction = directionOf(found.traffic_direction);
    return [{ name: found.name ?? "", statName: statName(found), port, direction, isLocal: isLocal(found.address) }];
  });
}

function isLocal(bound: z.infer<typeof address> | undefined): boolean {
  const host = bound?.socket_address?.address;
  return bound?.pipe !== undefined || (host !== undefined && isLoopback({ kind: "tcp", host, port: 0 }));
}

function directionOf(text: string | undefined): DumpedListener["direction"] {
  return text === "INBOUND" || text === "OUTBOUND" ? text : undefined;
}

/**
 * Parses the answer of Envoy's admin interface at `boundListenersPath`: the listeners with the addresses that they have
 * bound. Returns undefined if the text is not such an answer.
 */
export function parseBoundListeners(text: string): readonly BoundListener[] | undefined {
  const answer = parse(listenerStatuses, text);
  if (answer === undefined) return undefined;
  const statuses = answer.listener_statuses ?? [];
  return statuses.map(({ name, local_address }) => {
    const port = local_address?.socket_address?.port_value;
    return { name: name ?? "", address: addressText(local_address), port };
  });
}

/** The answer to /server_info, as far as ebb reads it. */
export type ServerInfo = z.infer<typeof serverInfo>;

/** Parses the answer to /server_info. Returns undefined if the text is not such an answer. */
export function parseServerInfo(text: string): ServerInfo | undefined {
  return parse(serverInfo, text);
}

/**
 * Returns the stat_prefix, else the address with `_` for `:` (Envoy, source/common/listener_manager/listener_impl.cc).
 */
function statName({ address, stat_prefix: prefix }: z.infer<typeof listener>): string | undefined {
  if (prefix !== undefined && prefix !== "") return prefix;
  return addressText(address)?.replaceAll(":", "_");
}

function addressText(address: z.infer<typeof listener>["address"]): string | undefined {
  const tcp = address?.socket_address;
  if (tcp === undefined) return address?.pipe?.path;
  return formatHostPort(tcp.address, tcp.port_value ?? 0);
}

function parse<S extends z.ZodMiniType>(schema: S, text: string): z.infer<S> | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // not JSON
  }
}

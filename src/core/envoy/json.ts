import * as z from "zod/mini";

// What Envoy says in JSON, checked. A leaf, loaded only by what asks: zod costs 1.2 ms.

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

/** The paths that tell the direction of each listener, a few lines each (envoyproxy.io, operations/admin, /config_dump). */
export const listenerDumpPaths: readonly [staticPath: string, dynamicPath: string] = [
  `/config_dump?resource=static_listeners&mask=${mask("listener")}`,
  `/config_dump?resource=dynamic_listeners&mask=${mask("active_state.listener")}`,
];

function mask(prefix: string): string {
  return ["name", "address", "stat_prefix", "traffic_direction"].map((field) => `${prefix}.${field}`).join();
}

/** Listeners by their names in statistics. */
export interface Directions {
  readonly inbound: readonly string[];
  readonly outbound: readonly string[];
}

/** The listeners of such a dump that say their direction; undefined where it is no such dump. */
export function parseDirections(text: string): Directions | undefined {
  const listeners = parseListenerDump(text);
  return listeners === undefined ? undefined : directionsOf(listeners);
}

export function directionsOf(listeners: readonly DumpedListener[]): Directions {
  const named = (wanted: string) =>
    listeners.flatMap(({ statName, direction }) => (direction === wanted ? (statName ?? []) : []));
  return { inbound: named("INBOUND"), outbound: named("OUTBOUND") };
}

export interface DumpedListener {
  readonly name: string;
  /** Its name in statistics. */
  readonly statName: string | undefined;
  /** INBOUND, OUTBOUND; undefined: nobody said. */
  readonly direction: string | undefined;
}

/** The listeners of such a dump; undefined where it is no such dump. */
export function parseListenerDump(text: string): readonly DumpedListener[] | undefined {
  const dump = parse(listenerDump, text);
  if (dump === undefined) return undefined;
  return (dump.configs ?? []).flatMap((config) => {
    const found = config.listener ?? config.active_state?.listener;
    if (found === undefined) return [];
    return [{ name: found.name ?? "", statName: statName(found), direction: found.traffic_direction }];
  });
}

export interface BoundListener {
  readonly name: string;
  /** `127.0.0.1:8080`, `[::]:80`, or a path; undefined for one inside Envoy. */
  readonly address: string | undefined;
}

/** The listeners of /listeners?format=json, with the addresses that they are bound to; undefined where it is no such answer. */
export function parseBoundListeners(text: string): readonly BoundListener[] | undefined {
  const answer = parse(listenerStatuses, text);
  if (answer === undefined) return undefined;
  const statuses = answer.listener_statuses ?? [];
  return statuses.map(({ name, local_address }) => ({ name: name ?? "", address: addressText(local_address) }));
}

export type ServerInfo = z.infer<typeof serverInfo>;

/** /server_info; undefined where it is no such answer. */
export function parseServerInfo(text: string): ServerInfo | undefined {
  return parse(serverInfo, text);
}

/** stat_prefix, else the address with `_` for `:` (Envoy, source/common/listener_manager/listener_impl.cc). */
function statName({ address, stat_prefix: prefix }: z.infer<typeof listener>): string | undefined {
  if (prefix !== undefined && prefix !== "") return prefix;
  return addressText(address)?.replaceAll(":", "_");
}

function addressText(address: z.infer<typeof listener>["address"]): string | undefined {
  const tcp = address?.socket_address;
  if (tcp === undefined) return address?.pipe?.path;
  const host = tcp.address.includes(":") ? `[${tcp.address}]` : tcp.address;
  return `${host}:${tcp.port_value ?? 0}`;
}

function parse<S extends z.ZodMiniType>(schema: S, text: string): z.infer<S> | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // not JSON
  }
}

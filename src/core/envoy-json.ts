import * as z from "zod/mini";

// What Envoy says in JSON, checked. A leaf, loaded only by what asks: zod costs 1.2 ms.

const address = z.object({
  socket_address: z.optional(z.object({ address: z.string(), port_value: z.optional(z.number()) })),
  pipe: z.optional(z.object({ path: z.string() })),
});

const listener = z.object({
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

/** The paths that tell the direction of each listener, a few lines each (envoyproxy.io, operations/admin, /config_dump). */
export const listenerDumpPaths: readonly string[] = [
  "/config_dump?resource=static_listeners&mask=listener.address,listener.stat_prefix,listener.traffic_direction",
  "/config_dump?resource=dynamic_listeners&mask=active_state.listener.address,active_state.listener.stat_prefix,active_state.listener.traffic_direction",
];

/** Listeners by their names in statistics. */
export interface Directions {
  readonly inbound: readonly string[];
  readonly outbound: readonly string[];
}

/** The listeners of such a dump that say their direction; undefined where it is no such dump. */
export function parseDirections(text: string): Directions | undefined {
  const dump = parse(listenerDump, text);
  if (dump === undefined) return undefined;
  const listeners = (dump.configs ?? []).flatMap((config) => config.listener ?? config.active_state?.listener ?? []);
  const named = (direction: string) =>
    listeners.filter((each) => each.traffic_direction === direction).flatMap((each) => statName(each) ?? []);
  return { inbound: named("INBOUND"), outbound: named("OUTBOUND") };
}

/** stat_prefix, else the address with `_` for `:` (Envoy, source/common/listener_manager/listener_impl.cc). */
function statName({ address, stat_prefix: prefix }: z.infer<typeof listener>): string | undefined {
  if (prefix !== undefined && prefix !== "") return prefix;
  const pipe = address?.pipe?.path;
  if (pipe !== undefined) return pipe.replaceAll(":", "_");
  const tcp = address?.socket_address;
  if (tcp === undefined) return undefined;
  const host = tcp.address.includes(":") ? `[${tcp.address}]` : tcp.address;
  return `${host}:${tcp.port_value ?? 0}`.replaceAll(":", "_");
}

function parse<S extends z.ZodMiniType>(schema: S, text: string): z.infer<S> | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // not JSON
  }
}

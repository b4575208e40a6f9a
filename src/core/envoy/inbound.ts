import { isOwnPort } from "./stats.ts";

/** How to recognize the inbound side of a mesh's Envoy, by the names and ports that its control plane uses. */
export interface Inbound {
  /**
   * The names of the clusters that lead to the app: a regular expression that is matched from the start of a name,
   * without its `^` and its brackets, for Envoy (RE2) and for ebb.
   */
  readonly clusters: string;
  /** The ports on which the pod's inbound traffic is accepted. */
  readonly ports: readonly number[];
}

/**
 * The admin path that drains the inbound listeners alone: the app's outbound traffic must go on (istio#51855). With
 * skip_exit the listeners keep accepting (Envoy, listeners_handler.cc).
 */
export const inboundDrain = "/drain_listeners?graceful&inboundonly&skip_exit";

/** A listener in Envoy's configuration (/config_dump). */
export interface DumpedListener {
  readonly name: string;
  /** Its name in statistics: its stat_prefix, else its address with `_` for `:`. Undefined if it has neither. */
  readonly statName: string | undefined;
  /** Undefined for a listener on a unix socket or inside Envoy. */
  readonly port: number | undefined;
  /** Its traffic_direction. Undefined if that is unspecified. */
  readonly direction: "INBOUND" | "OUTBOUND" | undefined;
  /** Whether only this pod can connect to it: it is bound to loopback or to a unix socket. */
  readonly isLocal: boolean;
}

/**
 * Returns the side of the app from which a listener's connections come. A listener that does not say it is outbound if
 * it is local: only the app can be its client. Null if nothing tells.
 */
export function sideOf({ direction, isLocal }: DumpedListener): "inbound" | "outbound" | null {
  if (direction === "INBOUND") return "inbound";
  return direction === "OUTBOUND" || isLocal ? "outbound" : null;
}

/** What a drain closes, and whose work it waits for. */
export interface DrainScope {
  /** The path on the admin interface that drains the listeners. */
  readonly path: string;
  /** The listeners whose work is not counted, by their names in statistics. */
  readonly leftOut: ReadonlySet<string>;
  /** The ports of inbound listeners. */
  readonly ports: readonly number[];
}

/**
 * Decides which listeners a drain closes and whose work it waits for: only the inbound ones if any listener is INBOUND
 * or if `drainPath` is `inboundDrain`, else all. If no listener is INBOUND, those whose side is not known are waited
 * for, and outbound ones that are not local only if there are no others: all of an Istio gateway are OUTBOUND. The ports
 * of `inbound` count too, those of the proxy's own endpoints do not.
 */
export function scopeOf(drainPath: string, listeners: readonly DumpedListener[], inbound?: Inbound): DrainScope {
  const onSide = (side: ReturnType<typeof sideOf>) => listeners.filter((each) => sideOf(each) === side);
  const comingIn = onSide("inbound");
  const path = comingIn.length > 0 ? inboundDrain : drainPath;
  const open = comingIn.length > 0 ? comingIn : onSide(null);
  const ports = [...open.flatMap(({ port }) => port ?? []), ...(inbound?.ports ?? [])].filter(
    (port) => !isOwnPort(port),
  );
  const isSided = path === inboundDrain || ports.length > 0;
  const leftOut = onSide("outbound").filter(({ isLocal }) => isSided || isLocal);
  return {
    path,
    leftOut: new Set(leftOut.flatMap(({ statName }) => statName ?? [])),
    ports: [...new Set(ports)],
  };
}

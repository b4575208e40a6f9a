import { type Inbound, inboundDrain } from "../../../shared/sidecars/core/inbound.ts";
import { isOwnPort } from "./stats.ts";

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

/** A listener, and the address that it is bound to (/listeners). */
export interface BoundListener {
  /** Empty if it has none. */
  readonly name: string;
  /** `127.0.0.1:8080`, `[::]:80`, or the path of a unix socket. Undefined for a listener inside Envoy. */
  readonly address: string | undefined;
  /** Undefined for a listener on a unix socket or inside Envoy. */
  readonly port: number | undefined;
}

/** What an Envoy says of its listeners. */
export interface KnownListeners {
  /** Empty if the configuration is not known. */
  readonly dumped: readonly DumpedListener[];
  /** Empty if it is not known what is bound. */
  readonly bound: readonly BoundListener[];
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
  /** The ports on which inbound work may come if none of `ports` listens: those of all that is not outbound. */
  readonly otherPorts: readonly number[];
}

/**
 * Decides which listeners a drain closes and whose work it waits for: only the inbound ones if any listener is INBOUND
 * or if `drainPath` is `inboundDrain`, else all. If no listener is INBOUND, those whose side is not known are waited
 * for, and outbound ones that are not local only if there are no others: all of an Istio gateway are OUTBOUND. The ports
 * of `inbound` count too, those of the proxy's own endpoints do not.
 */
export function scopeOf(drainPath: string, { dumped, bound }: KnownListeners, inbound?: Inbound): DrainScope {
  const onSide = (side: ReturnType<typeof sideOf>) => dumped.filter((each) => sideOf(each) === side);
  const comingIn = onSide("inbound");
  const path = comingIn.length > 0 ? inboundDrain : drainPath;
  const open = comingIn.length > 0 ? comingIn : onSide(null);
  const boundPorts = new Map(bound.map(({ name, port }) => [name, port]));
  // the configuration does not have the port of a listener that takes a free one
  const portsOf = (some: readonly DumpedListener[]) => some.map(({ name, port }) => port ?? boundPorts.get(name));
  const ports = inside([...portsOf(open), ...(inbound?.ports ?? [])]);
  const goingOut = onSide("outbound");
  const names = new Set(goingOut.map(({ name }) => name));
  const isSided = path === inboundDrain || ports.length > 0;
  const leftOut = goingOut.filter(({ isLocal }) => isSided || isLocal);
  return {
    path,
    leftOut: new Set(leftOut.flatMap(({ statName }) => statName ?? [])),
    ports,
    otherPorts: inside([
      ...portsOf(onSide(null)),
      ...bound.flatMap(({ name, port }) => (names.has(name) ? [] : port)),
    ]).filter((port) => !ports.includes(port)),
  };
}

/** Returns the ports that are known, each once, without those of the proxy's own endpoints. */
function inside(ports: readonly (number | undefined)[]): readonly number[] {
  return [...new Set(ports)].filter((port) => port !== undefined && !isOwnPort(port)) as readonly number[];
}

/** A listener in Envoy's configuration (/config_dump). */
export interface DumpedListener {
  readonly name: string;
  /** Its name in statistics: its stat_prefix, else its address with `_` for `:`. Undefined if it has neither. */
  readonly statName: string | undefined;
  /** Undefined for a listener on a unix socket or inside Envoy. */
  readonly port: number | undefined;
  /** Its traffic_direction. Undefined if that is unspecified. */
  readonly direction: "INBOUND" | "OUTBOUND" | undefined;
}

/** Listeners by their direction, as names in statistics. */
export interface Directions {
  readonly inbound: readonly string[];
  readonly outbound: readonly string[];
  /** The listeners without a direction. */
  readonly neither: readonly string[];
  /** The ports of the inbound listeners; if there is no inbound listener, of those without a direction. */
  readonly ports: readonly number[];
}

/**
 * Sorts listeners by their traffic_direction, and returns the ports of the inbound ones. If no listener is INBOUND,
 * `ports` is those of the listeners without a direction.
 */
export function directionsOf(listeners: readonly DumpedListener[]): Directions {
  const going = (wanted: string | undefined) => listeners.filter(({ direction }) => direction === wanted);
  const named = (some: readonly DumpedListener[]) => some.flatMap(({ statName }) => statName ?? []);
  const [inbound, neither] = [going("INBOUND"), going(undefined)];
  const ports = (inbound.length > 0 ? inbound : neither).flatMap(({ port }) => port ?? []);
  return { inbound: named(inbound), outbound: named(going("OUTBOUND")), neither: named(neither), ports };
}

/** What the configuration says of a listener. */
export interface DumpedListener {
  readonly name: string;
  /** Its name in statistics. */
  readonly statName: string | undefined;
  /** Undefined: on a unix socket, or inside Envoy. */
  readonly port: number | undefined;
  readonly direction: "INBOUND" | "OUTBOUND" | undefined;
}

/** Listeners by their names in statistics. */
export interface Directions {
  readonly inbound: readonly string[];
  readonly outbound: readonly string[];
  /** Those that are neither. */
  readonly neither: readonly string[];
  /** The ports of those that are not outbound; where some are inbound, of these alone. */
  readonly ports: readonly number[];
}

/**
 * Sorts listeners by their traffic_direction: the names that statistics use, and the inbound ports. Without any INBOUND one, those
 * without a direction count.
 */
export function directionsOf(listeners: readonly DumpedListener[]): Directions {
  const going = (wanted: string | undefined) => listeners.filter(({ direction }) => direction === wanted);
  const named = (some: readonly DumpedListener[]) => some.flatMap(({ statName }) => statName ?? []);
  const [inbound, neither] = [going("INBOUND"), going(undefined)];
  const ports = (inbound.length > 0 ? inbound : neither).flatMap(({ port }) => port ?? []);
  return { inbound: named(inbound), outbound: named(going("OUTBOUND")), neither: named(neither), ports };
}

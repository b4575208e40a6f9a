/** What tells an Envoy's inbound side from the rest, by the names and ports that its control plane gives. */
export interface Inbound {
  /** The names of the clusters that lead to the app: a regular expression without its anchors, for Envoy (RE2) and for ebb. */
  readonly clusters: string;
  /** The ports where what comes into the pod is accepted. */
  readonly ports: readonly number[];
  /** Whether nothing comes in elsewhere: a listener on another port, whose direction cannot be learned, is outbound then. */
  readonly isAllOfIt: boolean;
}

/** Beside an app outbound must go on (istio#51855); skip_exit: the listeners keep accepting (Envoy, listeners_handler.cc). */
export const inboundDrain = "/drain_listeners?graceful&inboundonly&skip_exit";

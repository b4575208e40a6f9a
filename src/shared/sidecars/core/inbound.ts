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

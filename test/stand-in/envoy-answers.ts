// The answers of the stand-ins for an Envoy, in this process or in others: those of Envoy 1.40. This file imports
// nothing, so that Node.js in a container can run it as it is.

export interface EnvoyState {
  /** Envoy's state, such as `LIVE`, which means ready, or `PRE_INITIALIZING`. */
  readonly state: string;
  /** The body of /stats. */
  readonly stats: string;
  /** The `node` of /server_info. */
  readonly node?: object | undefined;
}

/** Statistics of an Envoy without any connection but the one that asks for them. */
export const idle =
  "http.admin.downstream_cx_active: 1\nhttp.admin.downstream_rq_active: 1\nlistener.admin.downstream_cx_active: 1\n";

/** Returns statistics with that many TCP connections to a listener, which the configuration calls outbound. */
export function busy(connections: number): string {
  return `${idle}listener.0.0.0.0_8080.downstream_cx_active: ${connections}\n`;
}

const outbound = {
  address: { socket_address: { address: "0.0.0.0", port_value: 8080 } },
  traffic_direction: "OUTBOUND",
};

/** Returns statistics with four HTTP connections, and that many requests on them, to the listener of `listenersOf`. */
export function serving(requests: number): string {
  const listener =
    "listener.0.0.0.0_80.downstream_cx_active: 4\nlistener.0.0.0.0_80.http.in.downstream_rq_completed: 9\n";
  return `${idle}http.in.downstream_cx_active: 4\nhttp.in.downstream_rq_active: ${requests}\n${listener}`;
}

/** Returns the body of /listeners with one listener of that name, at port 80 of that address. */
export function listenersOf(name: string, address: string): string {
  const socket_address = { address, port_value: 80 };
  return JSON.stringify({ listener_statuses: [{ name, local_address: { socket_address } }] });
}

/** The state of an Envoy that is ready and idle. */
export const live: EnvoyState = { state: "LIVE", stats: idle };

/** Returns what an Envoy's admin interface answers at a path, given without query; undefined if it has no such path. */
export function envoyAnswer(
  path: string,
  envoy: EnvoyState,
): { readonly status: number; readonly body: string } | undefined {
  const { state, stats, node } = envoy;
  switch (path) {
    case "/ready":
      return { status: state.startsWith("LIVE") ? 200 : 503, body: `${state}\n` };
    case "/stats":
      return { status: 200, body: stats };
    case "/server_info":
      return { status: 200, body: JSON.stringify({ ...serverInfo, state, node }) };
    case "/listeners":
    case "/clusters":
      return { status: 200, body: "{}" };
    case "/config_dump":
      return { status: 200, body: JSON.stringify({ configs: [{ listener: outbound }] }) };
    case "/healthcheck/fail":
    case "/healthcheck/ok":
    case "/drain_listeners":
    case "/quitquitquit":
      return { status: 200, body: "OK\n" };
    default:
      return undefined;
  }
}

const serverInfo = {
  version: "9e5580933739775e8bce696a57a2e1bc99368f23/1.40.0/Clean/RELEASE/BoringSSL",
  hot_restart_version: "disabled",
  uptime_current_epoch: "90s",
  command_line_options: { restart_epoch: 1, drain_time: "600s", drain_strategy: "Gradual" },
};

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** An Envoy's admin interface, as far as ebb status asks it. */
export interface FakeAdmin extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** The requests so far, without their queries. */
  readonly requests: readonly string[];
  state: string;
  requestsInFlight: number;
  /** Answers instead of it, by path without query. */
  readonly instead: Record<string, (response: ServerResponse) => void>;
}

export async function startFakeAdmin(): Promise<FakeAdmin> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = pathOf(request);
    requests.push(`${request.method} ${path}`);
    const answer = admin.instead[path];
    if (answer !== undefined) return answer(response);
    const body = answerOf(path, admin);
    response.writeHead(path === "/ready" && admin.state !== "LIVE" ? 503 : 200).end(body);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const admin: FakeAdmin = {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    state: "LIVE",
    requestsInFlight: 0,
    instead: {},
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return admin;
}

function pathOf({ url = "" }: IncomingMessage): string {
  return url.split("?")[0] as string;
}

function answerOf(path: string, { state, requestsInFlight }: FakeAdmin): string {
  switch (path) {
    case "/ready":
      return `${state}\n`;
    case "/server_info":
      return JSON.stringify({
        ...{ version: "abc/1.40.0/Clean/RELEASE/BoringSSL", state, uptime_current_epoch: "90s" },
        command_line_options: { restart_epoch: 1, drain_time: "600s", drain_strategy: "Gradual" },
      });
    case "/stats":
      return [
        "http.admin.downstream_cx_active: 1",
        "http.in.downstream_cx_active: 4",
        `http.in.downstream_rq_active: ${requestsInFlight}`,
        "listener.0.0.0.0_80.downstream_cx_active: 4",
      ].join("\n");
    case "/listeners":
      return JSON.stringify({
        listener_statuses: [{ name: "in", local_address: { socket_address: { address: "0.0.0.0", port_value: 80 } } }],
      });
    default:
      return "{}";
  }
}

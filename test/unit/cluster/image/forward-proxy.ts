import { connect, createServer, type Socket } from "node:net";
import { listen } from "../../../harness/free-port.ts";

/** A forward proxy (RFC 9110, 9.3.6: CONNECT) that leads every host to one port of this machine. */
interface ForwardProxy extends AsyncDisposable {
  readonly url: string;
  /** The lines of its requests: `CONNECT registry.example.com:443 HTTP/1.1`. */
  readonly lines: readonly string[];
}

/** Starts a forward proxy to a port. */
export async function startForwardProxy(port: number): Promise<ForwardProxy> {
  const lines: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    sockets.add(client);
    client.on("error", () => client.destroy());
    client.once("data", (head) => {
      lines.push(head.toString().split("\r\n")[0] ?? "");
      const upstream = connect(port, "127.0.0.1", () => {
        client.write("HTTP/1.1 200 Connection established\r\n\r\n");
        client.pipe(upstream).pipe(client);
      });
      sockets.add(upstream);
      upstream.on("error", () => client.destroy());
    });
  });
  const own = await listen(server);
  return {
    url: `http://127.0.0.1:${own}`,
    lines,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

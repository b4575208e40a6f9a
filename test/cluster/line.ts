import { connect, createServer, type Socket } from "node:net";
import { listen } from "../harness/free-port.ts";

/** A TCP forwarder that can be cut: it carries connections to a port of 127.0.0.1 on to a server. */
export interface Line extends Disposable {
  readonly port: number;
  /** Ends all connections, and each new one, until `mend`. */
  cut(): void;
  mend(): void;
}

/** Starts such a forwarder to the host and port of a URL; the default port is 443. */
export async function cuttable({ hostname, port }: URL): Promise<Line> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) {
      near.destroy();
      return;
    }
    const far = connect(Number(port || 443), hostname.replace(/^\[|\]$/g, ""));
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  const own = await listen(server);
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: own,
    cut,
    mend() {
      isCut = false;
    },
    [Symbol.dispose]() {
      cut();
      server.close();
    },
  };
}

import { createServer } from "node:net";

/** Below the ports that Linux gives to clients (ip_local_port_range), and to servers that name none. */
const [FIRST, END] = [20_000, 32_768];

/**
 * Returns a port of 127.0.0.1 on which nobody listens, for a server that is named before it starts, or is started again.
 * No client gets it meanwhile.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (END - FIRST));
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((tell) => {
    server.once("error", () => tell(false));
    server.listen(port, "127.0.0.1", () => server.close(() => tell(true)));
  });
}

import { createServer, type Server } from "node:net";

/**
 * Above those of sidecars, by which a test beside it would find one, and below those that Linux gives to clients, and to
 * servers that name none (ip_local_port_range).
 */
const [FIRST, END] = [21_000, 32_768];
/** The ports of one test process: a server's that has ended is taken by no test that runs beside it. */
const SHARE = 300;
const first = FIRST + ((Number(process.env.JEST_WORKER_ID ?? 0) * SHARE) % (END - FIRST - SHARE));

let next = Math.floor(Math.random() * SHARE);

/**
 * Listens on a port that nobody takes after the server has ended, for as long as a test can take. Returns the port.
 * Rejects as `listen` fails, but for a port that is taken.
 */
export async function listen(server: Server, host = "127.0.0.1"): Promise<number> {
  for (let tries = 0; tries < SHARE; tries += 1) {
    const port = first + (next++ % SHARE);
    if (await listensOn(server, port, host)) return port;
  }
  throw new Error(`all ports from ${first} to ${first + SHARE - 1} of ${host} are taken`);
}

/** Returns a port of 127.0.0.1 on which nobody listens, for a server that is named before it starts. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((closed) => server.close(closed));
  return port;
}

function listensOn(server: Server, port: number, host: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const settled = () => void server.off("error", failed).off("listening", listening);
    const failed = (error: NodeJS.ErrnoException) => {
      settled();
      if (error.code === "EADDRINUSE") resolve(false);
      else reject(error);
    };
    const listening = () => {
      settled();
      resolve(true);
    };
    server.once("error", failed).once("listening", listening).listen(port, host);
  });
}

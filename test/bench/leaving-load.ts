import { Agent, createServer, get } from "node:http";
import type { AddressInfo } from "node:net";

/** A request's life, in milliseconds since the leaving began. */
export interface Request {
  readonly client: number;
  readonly start: number;
  readonly end: number;
  /** Why it was lost; undefined: answered in full. */
  readonly lost: string | undefined;
}

/** Answers each request after the milliseconds that its query says. */
export async function startApp(): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer((request, response) => {
    setTimeout(() => response.end("done\n"), Number(request.url?.split("?")[1] ?? 0));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

export interface Load {
  /** The zero of all times. */
  begin(): void;
  /** The pod's address has left the endpoints: no new requests, what is under way goes on, connections stay open. */
  deregister(): void;
  /** Every request that ended after the zero, once all have. */
  done(): Promise<readonly Request[]>;
}

/** Clients as they are: keep-alive, one request after the other, `connection: close` obeyed; the last few ask for seconds. */
export function startLoad(url: string, clients: number, slow: number): Load {
  let zero = Number.POSITIVE_INFINITY;
  let isOpen = true;
  const requests: Request[] = [];
  const agents: Agent[] = [];
  const work = async (client: number): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    agents.push(agent);
    for (let turn = 0; isOpen; turn += 1) {
      // the same for each way of leaving
      const ms = client < clients - slow ? 20 + ((client * 37 + turn * 53) % 180) : 3000 + ((client * 1700) % 6000);
      const start = performance.now();
      const lost = await ask(`${url}/?${ms}`, agent);
      const end = performance.now();
      if (end > zero) requests.push({ client, start: start - zero, end: end - zero, lost });
      if (lost !== undefined) await Bun.sleep(200);
    }
  };
  const all = Promise.all(Array.from({ length: clients }, (_, client) => work(client)));
  return {
    begin() {
      zero = performance.now();
    },
    deregister() {
      isOpen = false;
    },
    async done() {
      await all;
      for (const agent of agents) agent.destroy();
      return requests;
    },
  };
}

function ask(url: string, agent: Agent): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const request = get(url, { agent }, (response) => {
    response.resume();
    response.on("end", () => resolve(response.statusCode === 200 ? undefined : `HTTP ${response.statusCode}`));
    response.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
  request.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  return promise;
}

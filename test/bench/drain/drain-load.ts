import { Agent } from "node:http";
import { takes } from "../../harness/time.ts";
import { ask, DEREGISTERED_MS, type InFlight, PAUSE_MS, type Place, startClock, type Work } from "./drain-client.ts";
import { keepAlive, webSocket } from "./drain-work.ts";

/** The number of clients of each kind. */
export const load = { quick: 12, slow: 4 } as const;

/**
 * Starts usual clients, an idle connection and a WebSocket. No request is sent once the address has left the endpoints.
 */
export async function everything(place: Place): Promise<Work> {
  const clients = load.quick + load.slow;
  const works = [calls(place), await webSocket(place, clients), await keepAlive(place, clients + 1)];
  await takes(1500); // the quick ones have turned over some times
  return {
    begin() {
      for (const { begin } of works) begin();
    },
    done: async () => (await Promise.all(works.map(({ done }) => done()))).flat(),
  };
}

/**
 * Starts keep-alive clients that send one request after the other and obey `connection: close`; the last few take
 * seconds.
 */
function calls({ url }: Place): Work {
  const clock = startClock();
  const ended: InFlight[] = [];
  let isOpen = true;
  const work = async (client: number): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let turn = 0; isOpen; turn += 1) {
      // the same for every program
      const ms = client < load.quick ? 20 + ((client * 37 + turn * 53) % 180) : 3000 + ((client * 1700) % 6000);
      const one = await ask(`${url}/?${ms}`, agent, clock);
      if (one.end > 0) ended.push({ client, kind: "request", ...one });
      if (one.lost !== undefined) await takes(PAUSE_MS);
    }
    agent.destroy();
  };
  const all = Promise.all(Array.from({ length: load.quick + load.slow }, (_, client) => work(client)));
  const begin = (): void => {
    clock.begin();
    setTimeout(() => {
      isOpen = false;
    }, DEREGISTERED_MS);
  };
  return { begin, done: async () => (await all) && ended };
}

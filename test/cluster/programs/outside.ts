// bun outside.ts is all that is outside of the pods that stop. On port 8081 it answers their calls. On port 8080
// /begin?url=URL&ms=A,B,C starts a client for each of these times, all of which send one request to URL after the other,
// each on a new connection; each request takes the next of the times. /end?url=URL ends them 2 s later, as clients do that
// hear late that a pod leaves, and is answered, once the last has its answer, with the number of requests and why some failed.

export interface Requests {
  sent: number;
  /** How often each reason lost one. */
  readonly lost: Record<string, number>;
}

interface Clients {
  readonly requests: Requests;
  isOver: boolean;
  readonly done: Promise<unknown>;
}

const LATE_MS = 2000;
const all = new Map<string, Clients>();

function begin(url: string, ms: readonly number[]): void {
  const clients = { requests: { sent: 0, lost: {} }, isOver: false, done: Promise.resolve() as Promise<unknown> };
  clients.done = Promise.all(ms.map((_, at) => send(clients, url, [...ms.slice(at), ...ms.slice(0, at)])));
  all.set(url, clients);
}

async function send(clients: Clients, url: string, ms: readonly number[]): Promise<void> {
  const { requests } = clients;
  for (let turn = 0; !clients.isOver; turn += 1) {
    requests.sent += 1;
    const asked = `${url}?ms=${ms[turn % ms.length]}`;
    const reason = await problemOf(asked).catch((error) => `${error.code ?? error}`);
    if (reason === undefined) continue;
    requests.lost[reason] = (requests.lost[reason] ?? 0) + 1;
    await Bun.sleep(100);
  }
}

/** Asks; why that is not well. */
async function problemOf(url: string): Promise<string | undefined> {
  const answer = await fetch(url, { keepalive: false });
  await answer.text();
  return answer.ok ? undefined : `status ${answer.status}`;
}

async function end(url: string): Promise<Requests> {
  const clients = all.get(url) as Clients;
  await Bun.sleep(LATE_MS);
  clients.isOver = true;
  await clients.done;
  return clients.requests;
}

// it never closes a connection first: the next call might be on it already
Bun.serve({ port: 8081, idleTimeout: 0, fetch: () => new Response("called") });
Bun.serve({
  port: 8080,
  idleTimeout: 0,
  async fetch(asked) {
    const { pathname, searchParams } = new URL(asked.url);
    const url = searchParams.get("url") ?? "";
    if (pathname === "/end") return Response.json(await end(url));
    if (pathname === "/begin") begin(url, (searchParams.get("ms") ?? "").split(",").map(Number));
    return new Response();
  },
});

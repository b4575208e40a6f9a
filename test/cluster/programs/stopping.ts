// bun stopping.ts URL NEEDS_MS [PORT] is an app that calls URL each 100 ms, each time on a new connection, from the first
// answer on; at SIGTERM it goes on for NEEDS_MS. It prints each call that fails, and at its end how many were answered. With
// PORT it serves until its SIGTERM: ?ms=N takes that long; /sick and /well change what /health says, those with ?of=proxy
// what /health?of=proxy says; /greedy takes 512 MiB. If it was sick it ends with 1, otherwise with 0.

export interface Calls {
  readonly before: { asked: number; answered: number };
  /** Those that began after SIGTERM. */
  readonly after: { asked: number; answered: number };
}

const EVERY_MS = 100;
const PATIENCE_MS = 20_000;
const [url = "", needsMs = "0", port] = process.argv.slice(2);
const calls: Calls = { before: { asked: 0, answered: 0 }, after: { asked: 0, answered: 0 } };
let isStopping = false;
const sick = new Set<string>();

async function call(): Promise<void> {
  const when = isStopping ? "after" : "before";
  calls[when].asked += 1;
  try {
    await ask();
    calls[when].answered += 1;
  } catch (error) {
    console.log("lost", new Date().toISOString(), when, `${error}`);
  }
}

async function ask(): Promise<void> {
  const answer = await fetch(url, { keepalive: false, signal: AbortSignal.timeout(PATIENCE_MS) });
  await answer.text();
  if (!answer.ok) throw new Error(`status ${answer.status}`);
}

async function isAnswered(): Promise<boolean> {
  return await ask().then(
    () => true,
    () => false,
  );
}

function answer({ pathname, searchParams }: URL): Response | Promise<Response> {
  const of = searchParams.get("of") ?? "app";
  switch (pathname) {
    case "/health":
      return new Response(null, { status: sick.has(of) ? 500 : 200 });
    case "/sick":
      sick.add(of);
      return new Response();
    case "/well":
      sick.delete(of);
      return new Response();
    case "/greedy":
      return new Response(Buffer.alloc(1 << 29, 1));
    default:
      return Bun.sleep(Number(searchParams.get("ms") ?? 0)).then(() => new Response(process.env.HOSTNAME));
  }
}

const server =
  port === undefined ? undefined : Bun.serve({ port, idleTimeout: 0, fetch: ({ url }) => answer(new URL(url)) });
const underWay = new Set<Promise<void>>();

function begin(): void {
  const one = call().finally(() => underWay.delete(one));
  underWay.add(one);
}

// a busy Envoy is ready somewhat earlier than its listeners
while (!(await isAnswered())) await Bun.sleep(EVERY_MS);
console.log("is answered");
const timer = setInterval(begin, EVERY_MS);

process.on("SIGTERM", async () => {
  if (isStopping) return console.log("got SIGTERM again");
  console.log("got SIGTERM");
  isStopping = true;
  begin();
  void server?.stop(true); // what is under way is cut, as by most servers
  await Bun.sleep(Number(needsMs));
  clearInterval(timer);
  begin();
  await Promise.all(underWay);
  console.log("calls", JSON.stringify(calls));
  process.exit(sick.has("app") ? 1 : 0);
});

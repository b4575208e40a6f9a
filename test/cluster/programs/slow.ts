// bun slow.ts URL is an app on port 8081 that answers each request after the time that its query says, in ms. It calls URL
// twice a second, each time on a new connection, and prints a line for each call that has ended. On SIGTERM it takes 2 s to
// end, as an app that closes what it has open.

const [, , url = ""] = process.argv;
const EVERY_MS = 500;

async function call(): Promise<void> {
  const since = new Date().toISOString();
  const answer = await fetch(url, { keepalive: false }).catch((error) => error);
  console.log(JSON.stringify({ called: since, status: answer.status ?? `${answer}` }));
}

const calling = setInterval(() => void call(), EVERY_MS);
process.on("SIGTERM", async () => {
  console.log("the app got SIGTERM");
  await Bun.sleep(2000);
  clearInterval(calling);
  await call();
  console.log("the app exits");
  process.exit(0);
});

Bun.serve({
  port: 8081,
  hostname: "127.0.0.1",
  idleTimeout: 0, // a long answer is not an idle connection
  async fetch({ url }) {
    await Bun.sleep(Number(new URL(url).searchParams.get("ms")));
    return new Response();
  },
});

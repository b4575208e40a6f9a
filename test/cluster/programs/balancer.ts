// bun balancer.ts HOST PORT sends two short requests a second to one pod, each on a new connection. At SIGUSR1 it sends a
// long one, too. It stops 4 s later, as a load balancer does that hears late that the pod is being deleted. It prints a
// line for each request that has ended, and exits when all have.

const STOPS_MS = 4000;
const LONG_MS = 10_000;
const SHORT_MS = 300;

const [host, port] = process.argv.slice(2);
const sent: Promise<void>[] = [];

async function send(ms: number): Promise<void> {
  const since = new Date().toISOString();
  const answer = await fetch(`http://${host}:${port}/?ms=${ms}`, { keepalive: false }).catch((error) => error);
  console.log(JSON.stringify({ sent: since, ms, status: answer.status ?? `${answer}` }));
}

const timer = setInterval(() => sent.push(send(SHORT_MS)), 500);
process.on("SIGUSR1", async () => {
  sent.push(send(LONG_MS));
  console.log("sent a long request");
  await Bun.sleep(STOPS_MS);
  clearInterval(timer);
  await Promise.all(sent);
  process.exit(0);
});

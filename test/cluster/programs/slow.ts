// bun slow.ts is an app on port 8081 that answers each request after the time that its query says, in ms. On SIGTERM it
// takes 2 s to end, as an app that closes what it has open.

process.on("SIGTERM", async () => {
  console.log("the app got SIGTERM");
  await Bun.sleep(2000);
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

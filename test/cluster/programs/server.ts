// bun server.ts [ADDRESS [PORT]] is the app of a pod. It answers each request with the pod's name, after the time that its
// query says in ms. At SIGTERM it ends at once, whatever is under way, as most apps do that do not listen for it.

process.on("SIGTERM", () => process.exit(0));

Bun.serve({
  port: Number(process.argv[3] ?? 8081),
  hostname: process.argv[2] ?? "127.0.0.1",
  idleTimeout: 0, // a long answer is no idle connection
  async fetch({ url }) {
    await Bun.sleep(Number(new URL(url).searchParams.get("ms") ?? 0));
    return new Response(process.env.HOSTNAME ?? "");
  },
});

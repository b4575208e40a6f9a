// The app of a pod, bun server.ts [ADDRESS]: answers each request with the pod's name, after so many milliseconds as its query
// says. At SIGTERM it ends at once, as most apps do that do not listen for it, whatever is under way.

process.on("SIGTERM", () => process.exit(0));

Bun.serve({
  port: 8081,
  hostname: process.argv[2] ?? "127.0.0.1",
  idleTimeout: 0, // a long answer is no idle connection
  async fetch({ url }) {
    await Bun.sleep(Number(new URL(url).searchParams.get("ms") ?? 0));
    return new Response(process.env.HOSTNAME ?? "");
  },
});

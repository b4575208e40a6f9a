// bun kuma-dp.ts READINESS ENVOY... starts an Envoy as Kuma's user, and answers on port 9902 for it as kuma-dp does
// (kuma 2.14.3 app/kuma-dp/pkg/dataplane/readiness/component.go), which no registry has in a form that builds.
// READINESS is the socket of Envoy's admin interface, whose answer it passes on, or "tcp": then it says READY itself.
// It ends with Envoy.

const [, , readiness = "", ...command] = process.argv;

Bun.serve({
  port: 9902,
  hostname: "0.0.0.0",
  async fetch({ url }) {
    if (new URL(url).pathname !== "/ready") return new Response("404 page not found\n", { status: 404 });
    if (readiness === "tcp") return new Response("READY");
    try {
      return await fetch("http://localhost/ready", { unix: readiness });
    } catch {
      return new Response("envoy not ready", { status: 503 });
    }
  },
});
const user = ["setpriv", "--reuid=5678", "--regid=5678", "--clear-groups"];
process.exit(await Bun.spawn([...user, ...command], { stdio: ["ignore", "inherit", "inherit"] }).exited);

export {};

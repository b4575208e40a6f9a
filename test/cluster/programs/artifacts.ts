// Keeps what is PUT, and gives it to who GETs it. Prints each request, and whether it came through the mesh: only a proxy
// that a certificate has shown who asks says so.
const kept = new Map<string, Uint8Array>();

Bun.serve({
  port: 8080,
  async fetch(asked) {
    const { pathname } = new URL(asked.url);
    console.log(asked.method, pathname, asked.headers.has("x-forwarded-client-cert") ? "mesh" : "plain");
    if (asked.method === "PUT") {
      kept.set(pathname, await asked.bytes());
      return new Response(null, { status: 201 });
    }
    const bytes = kept.get(pathname);
    return bytes === undefined ? new Response("no such thing", { status: 404 }) : new Response(bytes);
  },
});

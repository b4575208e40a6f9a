// Keeps what is PUT, and gives it to who GETs it. Prints each request, and whether it came through the mesh: only a proxy
// that a certificate has shown who asks says so. A PUT with ?held is answered, and kept, when its path is POSTed to.
const kept = new Map<string, Uint8Array>();
const held = new Map<string, () => void>();

Bun.serve({
  port: 8080,
  idleTimeout: 0, // a request that is held is idle
  async fetch(asked) {
    const { pathname, searchParams } = new URL(asked.url);
    console.log(asked.method, pathname, asked.headers.has("x-forwarded-client-cert") ? "mesh" : "plain");
    if (asked.method === "POST") {
      held.get(pathname)?.();
      return new Response(null, { status: 204 });
    }
    if (asked.method === "PUT") {
      const bytes = await asked.bytes();
      if (searchParams.has("held")) await new Promise<void>((resolve) => held.set(pathname, resolve));
      if (!asked.signal.aborted) kept.set(pathname, bytes);
      return new Response(null, { status: 201 });
    }
    const bytes = kept.get(pathname);
    return bytes === undefined ? new Response("no such thing", { status: 404 }) : new Response(bytes);
  },
});

// bun app.ts PORT is the app of a pod. It answers each request with its path, which it prints; `/wait/4000` after 4 s.

import { takes } from "../harness/time.ts";

const [, , port] = process.argv;
Bun.serve({
  port: Number(port),
  hostname: "0.0.0.0",
  idleTimeout: 0,
  async fetch({ url }) {
    const { pathname } = new URL(url);
    console.log(pathname);
    const [, waitMs] = /^\/wait\/(\d+)$/.exec(pathname) ?? [];
    if (waitMs !== undefined) await takes(Number(waitMs));
    return new Response(pathname);
  },
});
console.log("listening");

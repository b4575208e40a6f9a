import type { PeerRecord } from "../../src/pod/run/core/peers.ts";

/** A life of ebb beside a proxy. */
export interface Scenario {
  /** The flags of `ebb run`. */
  readonly flags: readonly string[];
  /** The milliseconds after which the proxy listens. */
  readonly listensMs: number;
  /** The milliseconds after which the proxy is ready. */
  readonly readyMs: number;
  /** Whether the app ends by itself, or when it is told to. */
  readonly app: "exit" | "stop";
  /** The number of quits that the proxy answers with 503 before it accepts one. */
  readonly refusals: number;
  /** The record of another app container of the pod; its lock is held if it says `started`. */
  readonly peer?: PeerRecord;
}

const ready = { flags: [], listensMs: 0, readyMs: 0, app: "exit", refusals: 0 } as const;

export const scenarios = {
  /** A proxy that is ready, and ends when it is told to. */
  ready,
  /** A proxy that does not listen for a while, and then is not ready for a while. */
  late: { ...ready, listensMs: 40, readyMs: 120 },
  /** SIGTERM is forwarded. */
  stop: { ...ready, app: "stop" },
  /** SIGTERM waits for the proxy's drain. */
  drain: { ...ready, app: "stop", flags: ["--drain", "500ms", "--min-drain", "1ms", "--grace", "5s"] },
  /** The proxy refuses the first two quits. */
  quit: { ...ready, refusals: 2, flags: ["--quit-timeout", "1s"] },
  /** With --last-of, the other app container has ended. */
  last: { ...ready, peer: { state: "ended", restarts: false } },
  /** With --last-of, the other app container runs. */
  first: { ...ready, peer: { state: "started", restarts: false } },
} as const satisfies Readonly<Record<string, Scenario>>;

export type ScenarioName = keyof typeof scenarios;

interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** Returns the number of quits so far. */
  readonly quits: () => number;
}

/** Starts a proxy with Envoy's admin paths. It takes its port at the start, so that nobody else listens there later. */
export function startProxy({ listensMs, readyMs, refusals }: Scenario): Proxy {
  const start = performance.now();
  let quits = 0;
  let server: ReturnType<typeof Bun.serve> | undefined;
  const answer = (path: string): Response => {
    if (path === "/ready") {
      const isReady = performance.now() - start >= readyMs;
      return new Response(isReady ? "LIVE\n" : "PRE_INITIALIZING\n", { status: isReady ? 200 : 503 });
    }
    if (path !== "/quitquitquit")
      return new Response(path.startsWith("/stats") ? "http.in.downstream_rq_active: 0\n" : "OK\n");
    quits += 1;
    if (quits <= refusals) return new Response("no\n", { status: 503 });
    setTimeout(() => server?.stop(true), 1);
    return new Response("OK\n");
  };
  const listen = (port: number) => {
    server = Bun.serve({ port, hostname: "127.0.0.1", fetch: ({ url }) => answer(new URL(url).pathname) });
    return server.port as number;
  };
  const port = listen(0);
  let timer: ReturnType<typeof setTimeout> | undefined;
  if (listensMs > 0) {
    server?.stop(true);
    timer = setTimeout(() => listen(port), listensMs);
  }
  return {
    url: `http://127.0.0.1:${port}`,
    quits: () => quits,
    async [Symbol.asyncDispose]() {
      clearTimeout(timer);
      await server?.stop(true);
    },
  };
}

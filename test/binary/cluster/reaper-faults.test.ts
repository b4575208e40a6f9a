import { expect, test } from "bun:test";
import { ebb, until } from "../../harness/ebb.ts";
import { never, takes } from "../../harness/time.ts";
import { refuse } from "../../stand-in/api-server/api-server.ts";
import { type Cluster, nonEmpty, startCluster, startReaper, stuckPod } from "./reaper.ts";

// An API server that does not do as it should, at each kind of request: the reaper goes on, and tells nobody twice.

const LONG_MS = 100_000;
const TEST_MS = 120_000;

type Answer = NonNullable<Cluster["api"]["answer"]>;

/** What comes in the place of the right answer, at first. */
const faults: Readonly<Record<string, Answer>> = {
  unavailable: () => refuse(503, "starting"),
  "half an answer": () => broken(),
  "an answer that takes its time": async (request) => {
    await takes(1000);
    return request.method === "PATCH" ? refuse(504, "request did not complete in time") : undefined;
  },
};

/** The connection ends in the middle of it. */
function broken(): Response {
  const body = new ReadableStream({
    async pull(controller) {
      controller.enqueue(new TextEncoder().encode('{"metadata":{"resourceVersion":"1'));
      await takes(10); // so that this half is read
      controller.error(new Error("cut"));
    },
  });
  return new Response(body, { headers: { "content-type": "application/json" } });
}

/** `PATCH ephemeralcontainers`, `GET pods watch`. */
function kindOf({ method, url }: Request): string {
  const { pathname, searchParams } = new URL(url);
  const isOne = /\/pods\/[^/]+$/.test(pathname);
  const kind = pathname.split("/").at(isOne ? -2 : -1);
  return `${method} ${isOne ? "one of " : ""}${kind}${searchParams.has("watch") ? " watch" : ""}`;
}

/** The first request of each kind has this answer. */
function breakFirst(cluster: Cluster, fault: Answer): ReadonlySet<string> {
  const { answer } = cluster.api;
  const seen = new Set<string>();
  cluster.api.answer = async (request, url) => {
    const kind = kindOf(request);
    const isFirst = !seen.has(kind);
    seen.add(kind);
    return (isFirst ? await fault(request, url) : undefined) ?? (await answer?.(request, url));
  };
  return seen;
}

const kinds = [
  ...["GET pods", "GET pods watch", "GET namespaces", "GET namespaces watch", "GET one of pods"],
  ...["PATCH ephemeralcontainers", "POST events"],
];

test.concurrent(
  "--once without an image gives up what nobody listens for, and says that an image allows one more method",
  async () => {
    await using cluster = startCluster();
    cluster.api.portforward = {
      open(far) {
        for (const channel of [0, 1]) far.send(Buffer.of(channel, 0xad, 0x26));
        far.send(Buffer.from("\u0001connect: connection refused"));
      },
    };
    cluster.put(stuckPod("moved"));
    const { code, stdout } = await ebb(["reaper", "--once", ...cluster.flags.slice(0, 2)]);
    expect({ code, line: stdout.split("\n")[1] }).toEqual({
      code: 69,
      line: expect.stringMatching(
        /^shop +moved +gave up +envoy still runs after all methods \(port-forward\); --image IMAGE allows one more, an ephemeral container; .*: connection refused: its admin interface is elsewhere: set the annotation ebb.dev\/reap-quit.envoy to its URL$/,
      ),
    });
  },
  TEST_MS,
);

test.concurrent(
  "a command that the API server is slow to begin does not run in a new pod of that name",
  async () => {
    await using cluster = startCluster();
    const annotations = { "ebb.dev/reap": "true", "ebb.dev/reap-exec.envoy": "/stop" };
    cluster.put(stuckPod("same", { annotations }));
    cluster.api.answer = async ({ signal }, { pathname }) => {
      if (!pathname.endsWith("/exec")) return undefined;
      cluster.put(stuckPod("same", { annotations, uid: "uid-new" }));
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return undefined;
    };
    const flags = [...cluster.flags.slice(0, 2), "--methods", "exec", "--allow-reap-exec"];
    const { stdout, log } = await ebb(["reaper", "--once", ...flags]);
    expect(cluster.api.opened).toBe(0);
    expect(stdout.split("\n")[1]).toMatch(/^shop +same +gone /);
    const [line] = log.filter(({ msg }) => msg === "ebb: asked a sidecar to exit");
    const why = "the API server did not open it within 500ms of the look at the pod";
    expect(line).toMatchObject({ level: "warn", result: "unavailable", why, uid: "uid-same" });
  },
  TEST_MS,
);

test.concurrent.each(Object.keys(faults))(
  "%s",
  async (name) => {
    await using cluster = startCluster();
    const seen = breakFirst(cluster, faults[name] as Answer);
    cluster.put(stuckPod("early"));
    await using reaper = await startReaper(cluster);
    const ended = (count: number) =>
      until(`${count} ended`, () => reaper.said("sidecars ended").length >= count || undefined, LONG_MS);
    await ended(1);
    await until("it watches", () => cluster.api.watchers === 2 || undefined, LONG_MS);
    cluster.put(stuckPod("late"));
    await ended(2);
    expect(cluster.told.toSorted()).toEqual(["early", "late"]);
    for (const kind of kinds) expect(seen).toContain(kind);
    reaper.started.kill("SIGTERM");
    expect((await reaper.started.ended).code).toBe(0);
  },
  TEST_MS,
);

test.concurrent(
  "an act whose answer is lost was done: it is not done again",
  async () => {
    await using cluster = startCluster();
    const { answer } = cluster.api;
    cluster.api.answer = async (request, url) => {
      const own = await answer?.(request, url);
      return request.method === "PATCH" && own?.ok ? broken() : own;
    };
    const names = ["a", "b", "c"];
    for (const name of names) cluster.put(stuckPod(name));
    await using reaper = await startReaper(cluster);
    // by the watch it is what the act has done; by the look after a rest, that there is nothing to do any more
    const over = () => [...reaper.said("sidecars ended"), ...reaper.said("pod left alone")];
    await until("their end", () => over().length === names.length || undefined, LONG_MS);
    expect(cluster.told.toSorted()).toEqual(names);
  },
  TEST_MS,
);

test.concurrent(
  "watches that are cut, or expire, again and again: what happens meanwhile is seen, once",
  async () => {
    await using cluster = startCluster();
    await using reaper = await startReaper(cluster);
    const names = Array.from({ length: 4 }, (_, at) => `pod-${at}`);
    for (const [at, name] of names.entries()) {
      await until("it watches", () => cluster.api.watchers === 2 || undefined, LONG_MS);
      cluster.api.cut(at % 2 === 0);
      cluster.put(stuckPod(name));
    }
    await until("their end", () => reaper.said("sidecars ended").length === names.length || undefined, LONG_MS);
    expect(cluster.told.toSorted()).toEqual(names);
    const metrics = await (await fetch(`${reaper.health}/metrics`)).text();
    expect(metrics).toMatch(/^ebb_reaper_watch_\w+_total\{reason="expired"\} [1-9]/m);
  },
  TEST_MS,
);

test.concurrent.each<[string, string]>([
  ["expires", `${JSON.stringify({ type: "ERROR", object: { code: 410, reason: "Expired", message: "too old" } })}\n`],
  ["ends", ""],
])(
  "the log says once that a watch always %s at once",
  async (_, body) => {
    await using cluster = startCluster();
    cluster.api.answer = (_, { searchParams }) => (searchParams.has("watch") ? new Response(body) : undefined);
    await using reaper = await startReaper(cluster);
    const told = () => reaper.said("cannot watch pods: retrying").length === 1 || undefined;
    await until("it is told", told, LONG_MS);
    await until("it watches again", () => watchesOf(cluster) > 3 || undefined, LONG_MS);
    expect(told()).toBe(true);
  },
  TEST_MS,
);

function watchesOf({ api: { requests } }: Cluster): number {
  return requests.filter((each) => each.startsWith("GET /api/v1/pods?watch=1")).length;
}

test.concurrent(
  "the reaper asks an API server that is unwell at growing intervals, and ends the pods once it is well",
  async () => {
    await using cluster = startCluster();
    await using reaper = await startReaper(cluster);
    await until("it watches", () => cluster.api.watchers === 2 || undefined, LONG_MS);
    const { answer } = cluster.api;
    const asked: string[] = [];
    cluster.api.answer = (_, { pathname }) => {
      asked.push(pathname);
      return refuse(503, "unwell");
    };
    const names = Array.from({ length: 20 }, (_, at) => `done-${at}`);
    for (const name of names) cluster.put(stuckPod(name));
    await until("it is asked", () => nonEmpty(asked), LONG_MS);
    await never("more than each pod once or twice, and the watches", () => asked.length >= 60, 3000);
    cluster.api.answer = answer;
    await until("their end", () => reaper.said("sidecars ended").length === names.length, LONG_MS);
    expect(cluster.told.toSorted()).toEqual(names.toSorted());
  },
  TEST_MS,
);

import { type Started, startEbb, until } from "../harness.ts";
import { takes } from "../time.ts";
import { listenDeaf } from "./deaf.ts";
import { nextAddress, type TcpPlace, urlOf } from "./place.ts";
import type { Result } from "./result.ts";
import { growth, least, type Usage, usageOf } from "./usage.ts";

/** The number of targets that are polled at the same time, so that ten thousand polls take ten seconds. */
const TARGETS = 10;
const EARLY = 2000;
const LATE = 10_000;
/** The number of polls, before and after each of these, in which memory is looked at. */
const WINDOW = 500;

/** The patience with a machine that stands still, and so polls less. */
const WAIT_MS = 600_000;

/**
 * Compares what `ebb wait` holds after 2,000 and after 10,000 polls, beside proxies each of which is not ready in
 * another way. Memory that grows by more than 4 MiB is a failure.
 */
export async function checkMemory(say: (text: string) => void): Promise<Result> {
  let polls = 0;
  const answering = serve((socket) => {
    polls += 1;
    socket.write("HTTP/1.1 503 Not Yet\r\ncontent-length: 5\r\n\r\nwait\n");
  });
  const hanging = serve(() => undefined);
  const deaf = nextAddress();
  using _ = listenDeaf(deaf);
  await using answered = startWaiting(answering.place);
  await using hung = startWaiting(hanging.place);
  await using refused = startWaiting(nextAddress());
  await using unheard = startWaiting(deaf);
  const waits = { "answers 503": answered, hangs: hung, "is refused": refused, "accepts nothing": unheard };
  const early = await usagesAround(EARLY, waits, () => polls);
  const late = await usagesAround(LATE, waits, () => polls);
  answering.stop();
  hanging.stop();
  let failed = 0;
  for (const name of Object.keys(waits)) {
    const [before, after] = [early[name] as Usage, late[name] as Usage];
    const problem = growth(before, after);
    if (problem !== undefined) failed += 1;
    const figures = `RssAnon ${before.rssAnon} -> ${after.rssAnon} KiB, ${after.descriptors} descriptors`;
    say(
      `memory after ${EARLY} and ${LATE} polls of what ${name}: ${figures}${problem === undefined ? "" : `: ${problem}`}`,
    );
  }
  return { passed: Object.keys(waits).length - failed, failed };
}

function startWaiting(place: TcpPlace): Started {
  const targets = Array.from({ length: TARGETS }, (_, index) => `${urlOf(place)}/ready${index}`);
  return startEbb(["wait", "--sidecar", "none", "--wait-timeout", "0", ...targets]);
}

async function usagesAround(
  polls: number,
  waits: Readonly<Record<string, Started>>,
  now: () => number,
): Promise<Readonly<Record<string, Usage>>> {
  await until(`${polls} polls`, () => now() > polls - WINDOW, WAIT_MS);
  const usages = new Map<string, Usage[]>();
  do {
    for (const [name, { pid }] of Object.entries(waits)) {
      usages.set(name, [...(usages.get(name) ?? []), usageOf(pid)]);
    }
    await takes(20);
  } while (now() < polls + WINDOW);
  return Object.fromEntries([...usages].map(([name, some]) => [name, least(some)]));
}

function serve(answer: (socket: { write(text: string): number }) => void) {
  const place = nextAddress();
  const server = Bun.listen({ ...place, socket: { data: (socket) => answer(socket) } });
  return { place, stop: () => server.stop(true) };
}

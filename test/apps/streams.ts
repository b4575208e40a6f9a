import { startEbb, until } from "../harness/ebb.ts";
import { takes } from "../harness/time.ts";
import { isAnswered, SIGNAL_AFTER_MS } from "./place.ts";

/** What became of an app's streams when it got SIGTERM while a request of 2 s was under way. */
export interface StoppedStreams {
  readonly code: number;
  readonly wasAnswered: boolean;
  /** "ended": to the end of the body; "cut": in the middle; "went on": still after the answer, until the client left. */
  readonly events: "ended" | "cut" | "went on";
  /** The code with which the WebSocket was closed, 1006 without one; undefined while it was open. */
  readonly webSocket: number | undefined;
}

/**
 * Starts the app by `ebb run`, and sends SIGTERM while a request of 2 s and the streams /events and, if `webSocket`,
 * /socket are open. The app sends an event each 100 ms.
 */
export async function stopDuringStreams(
  argv: readonly string[],
  url: string,
  webSocket: boolean,
): Promise<StoppedStreams> {
  await using started = startEbb(["run", "--sidecar", "none", "--", ...argv]);
  await until("the app answers", () => isAnswered(`${url}/`), 20_000, 50);
  const events = await openEvents(`${url}/events`);
  const socket = webSocket ? await openWebSocket(`${url.replace("http", "ws")}/socket`) : undefined;
  const slow = isAnswered(`${url}/slow`);
  await takes(SIGNAL_AFTER_MS);
  started.kill("SIGTERM");
  const wasAnswered = await slow;
  const before = events.count();
  // one event may have been on its way
  const end = await until("the events end or go on", () => events.end() ?? (events.count() > before + 1 && "went on"));
  const openCode = socket?.closeCode();
  if (end === "went on") {
    events.leave();
    socket?.leave();
  }
  const { code } = await started.ended;
  const isStillOpen = end === "went on" && openCode === undefined;
  return { code, wasAnswered, events: end, webSocket: isStillOpen ? undefined : await socket?.closed };
}

async function openEvents(url: string) {
  const client = new AbortController();
  const answer = await fetch(url, { signal: client.signal });
  let count = 0;
  let end: "ended" | "cut" | undefined;
  const read = async (): Promise<void> => {
    for await (const _ of answer.body as ReadableStream<Uint8Array>) count++;
  };
  read().then(
    () => (end = "ended"),
    () => (end = "cut"),
  );
  await until("the first event", () => count > 0);
  return { count: () => count, end: () => end, leave: () => client.abort() };
}

async function openWebSocket(url: string) {
  const socket = new WebSocket(url);
  let closeCode: number | undefined;
  const closed = new Promise<number>((resolve) => {
    socket.onclose = ({ code }) => {
      closeCode = code;
      resolve(code);
    };
  });
  await until("the WebSocket is open", () => socket.readyState === WebSocket.OPEN);
  return { closed, closeCode: () => closeCode, leave: () => socket.close() };
}

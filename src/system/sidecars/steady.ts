import { type Address, hostsToDial } from "../../core/base/address.ts";
import { encodeRequest, type HttpRequest } from "../../core/base/http-message.ts";
import { pollPeriodMs } from "../../core/sidecars/probe.ts";
import type { ReceivedAnswer } from "../http/http.ts";
import { native } from "../native/native.ts";

/** What an attempt met at a server. A thread repeats the attempt as long as it meets the same. */
export interface Steady {
  readonly address: Address;
  /** The request and its answer; undefined if the connection was refused. */
  readonly exchanged: { readonly request: HttpRequest; readonly seen: ReceivedAnswer } | undefined;
}

/** Leaves attempts that meet the same again to a thread, and takes them back for a moment each second. */
export interface SteadyWatcher {
  /**
   * Starts to watch that each server answers the same again, and calls `onChange` once if one does not. `waitedMs`,
   * since the wait began, decides how often the thread asks. Returns the ms after which JavaScript is to ask; undefined
   * if nothing is watched.
   */
  begin(all: readonly Steady[] | undefined, waitedMs: number, onChange: () => void): number | undefined;
  end(): void;
}

const LONGEST_PERIOD_MS = 100; // beyond that JavaScript costs little
const HAND_OVER_MS = 0.5; // waking JavaScript takes that long, at the most
const SHORTEST_MS = 250;
const BRIEF_MS = 30;
const MOST_BRIEF = 5;

/**
 * Creates a watcher that asks the sidecars whether they are ready, in a native thread, between two attempts of
 * JavaScript's. It stops for good after 6 watches in a row that an answer unlike the last one ended within 30 ms
 * (`MOST_BRIEF`, `BRIEF_MS`): if every answer differs, a watch only doubles the requests.
 */
export function createSteadyWatcher(): SteadyWatcher {
  let stop: (() => void) | undefined;
  let brief = 0;
  return {
    begin(all, waitedMs, onChange) {
      const periodMs = pollPeriodMs(waitedMs);
      if (all === undefined || brief > MOST_BRIEF || periodMs > LONGEST_PERIOD_MS) return undefined;
      const since = performance.now();
      stop = watchSteady(all, periodMs - HAND_OVER_MS, () => {
        stop = undefined;
        brief = performance.now() - since < BRIEF_MS ? brief + 1 : 0;
        onChange();
      });
      return stop === undefined ? undefined : untilFullSecond(waitedMs);
    },
    end() {
      if (stop !== undefined) brief = 0;
      stop?.();
      stop = undefined;
    },
  };
}

function untilFullSecond(waitedMs: number): number {
  return Math.ceil((waitedMs + SHORTEST_MS) / 1000) * 1000 - waitedMs + 1;
}

const LONGEST_ANSWER = 4096;

/**
 * Has native threads ask the servers each `periodMs`, and calls `done` once when one answers otherwise. JavaScript,
 * which takes most of the processor time of an attempt, sleeps meanwhile. Returns a function that ends this; undefined
 * if only JavaScript can ask.
 */
function watchSteady(all: readonly Steady[], periodMs: number, done: () => void): (() => void) | undefined {
  const watches: number[] = [];
  const look = (): void => {
    if (watches.every((watch) => native.watchHasChanged(watch) === 0)) return;
    stop();
    done();
  };
  const stop = (): void => {
    process.off("SIGCHLD", look);
    for (const watch of watches.splice(0)) native.watchStop(watch);
  };
  for (const one of all) {
    const watch = start(one, periodMs);
    if (watch < 0) return void stop();
    watches.push(watch);
  }
  process.on("SIGCHLD", look);
  return stop;
}

/** Starts one watch. Returns its number, or less than 0. */
function start({ address, exchanged }: Steady, periodMs: number): number {
  const [places, port] =
    address.kind === "unix" ? [address.path, 0] : [hostsToDial(address.host).join("\0"), address.port];
  const periodUs = Math.round(periodMs * 1000);
  if (exchanged === undefined) return native.watchStart(places, "", bytesOf(""), Int32Array.of(port, periodUs, 0));
  const { text, answer } = exchanged.seen;
  if (text.length > LONGEST_ANSWER) return -1;
  const numbers = Int32Array.of(port, periodUs, answer.isReusable ? 1 : 0);
  return native.watchStart(places, encodeRequest(exchanged.request), bytesOf(text), numbers);
}

/** Returns the bytes of latin1 text. */
function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

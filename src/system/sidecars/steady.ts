import { type Address, hostsToDial } from "../../core/base/address.ts";
import { encodeRequest, type HttpRequest } from "../../core/base/http-message.ts";
import { pollPeriodMs } from "../../core/sidecars/probe.ts";
import type { ReceivedAnswer } from "../http/http.ts";
import { native } from "../native/native.ts";

/** What an attempt has brought, and the next is to bring as well. */
export interface Steady {
  readonly address: Address;
  /** Undefined: the connection was refused. */
  readonly exchanged: { readonly request: HttpRequest; readonly seen: ReceivedAnswer } | undefined;
}

/** Leaves what does not change to a thread of its own, and takes it back for a moment each second. */
export interface SteadyWatcher {
  /** After how many milliseconds to ask again, if `onChange` is not called before; undefined where nothing is watched. */
  begin(all: readonly Steady[] | undefined, waitedMs: number, onChange: () => void): number | undefined;
  end(): void;
}

const LONGEST_PERIOD_MS = 100; // beyond that JavaScript costs little
const HAND_OVER_MS = 0.5; // waking JavaScript takes that long, at the most
const SHORTEST_MS = 250;
const BRIEF_MS = 30;
const MOST_BRIEF = 5;

/**
 * Creates what watches probes between two readiness attempts, so that a change is seen at once. It stops after a few watches that
 * ended early: where every answer differs, they would only double the requests.
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
 * Watches natively that all of it stays as it is, and calls `done` once when it does not. JavaScript sleeps meanwhile, which takes
 * most of the processor time of each attempt. Returns what ends it; undefined where only JavaScript can ask.
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

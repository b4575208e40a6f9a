import type { Cancel } from "../../../shared/http/connection.ts";
import { watchName } from "../../../shared/http/name-watch.ts";
import { cancelNothing, notReady, type OnVerdict, type Prober, startAfter } from "../prober.ts";
import { proberOfAny } from "./any.ts";

/** For so long, in ms, a look-up may take before other attempts tell that there is no address yet. */
const LOOK_UP_MS = 249;

/** Creates a prober that asks at the addresses of a name, and is ready as soon as it is at one of them. */
export function proberOfName(name: string, proberOfIp: (ip: string) => Prober): Prober {
  const watch = watchName(name);
  const addresses = createAddressProbers(proberOfIp);
  let isFirst = true;
  let quietUntil = 0;
  const askNext = (done: OnVerdict): Cancel => {
    const group = addresses.nextGroup(watch.ips());
    if (group !== undefined) return group.attempt(done);
    done(notReady(watch.reason()));
    return cancelNothing;
  };
  return {
    attempt(done) {
      const lookUp = watch.lookUpIfDue() ?? (isFirst ? watch.underWay() : undefined);
      isFirst = false;
      if (lookUp === undefined || watch.ips().length > 0) return askNext(done);
      quietUntil = performance.now() + LOOK_UP_MS;
      const lookedUp = lookUp.then(() => {
        quietUntil = 0;
      });
      return startAfter(lookedUp, () => askNext(done));
    },
    isDeciding: () => performance.now() < quietUntil || addresses.areDeciding(),
    end: addresses.end,
  };
}

/** The most addresses of a name that are asked in one attempt; the next attempt asks the next ones. */
const MOST_ADDRESSES = 4;

/** Creates the probers of a name's addresses. */
export function createAddressProbers(proberOfIp: (ip: string) => Prober) {
  // an address keeps its prober, which counts the connections that hang, while the DNS moves and leaves out addresses
  const probers = new Map<string, Prober>();
  let ips: readonly string[] = [];
  let attempts = 0;
  const current = (): readonly Prober[] => ips.map((ip) => probers.get(ip) as Prober);
  return {
    /** Returns a prober of the addresses whose turn it is among those that the DNS has now; undefined if it has none. */
    nextGroup(found: readonly string[]): Prober | undefined {
      if (found !== ips) {
        for (const [ip, prober] of probers) if (!found.includes(ip)) prober.end?.();
        for (const ip of found) if (!probers.has(ip)) probers.set(ip, proberOfIp(ip));
        ips = found;
      }
      if (ips.length === 0) return undefined;
      const at = (attempts++ % Math.ceil(ips.length / MOST_ADDRESSES)) * MOST_ADDRESSES;
      return proberOfAny(current().slice(at, at + MOST_ADDRESSES));
    },
    areDeciding: () => current().some((prober) => prober.isDeciding?.()),
    end() {
      for (const prober of probers.values()) prober.end?.();
    },
  };
}

import { lookUpPeriodMs } from "./core/look-up-period.ts";
import { RequestFailed, UNRESOLVED } from "./request-failed.ts";

/** A name whose addresses are kept, and looked up again at a pace that spares the DNS. */
interface NameWatch {
  /** The IP addresses that were found last; none until there are any. */
  ips(): readonly string[];
  /** Why there are none. */
  reason(): string;
  /** Starts a look-up if it is time for one, and returns its end. */
  lookUpIfDue(): Promise<void> | undefined;
  /** Returns the end of the look-up that is under way. */
  underWay(): Promise<void> | undefined;
}

const watches = new Map<string, NameWatch>();

/** Returns the watch of a name, which all that connect to the name share. */
export function watchName(name: string): NameWatch {
  const watch = watches.get(name) ?? createWatch(name);
  watches.set(name, watch);
  return watch;
}

/** Resolves with the IP addresses of a name. Rejects with RequestFailed if there are none. */
export async function lookUp(name: string): Promise<readonly string[]> {
  const watch = watchName(name);
  await (watch.lookUpIfDue() ?? watch.underWay());
  if (watch.ips().length > 0) return watch.ips();
  throw new RequestFailed("unreachable", watch.reason());
}

function createWatch(name: string): NameWatch {
  const since = performance.now();
  let dueAt = since;
  let ips: readonly string[] = [];
  let reason = UNRESOLVED;
  let underWay: Promise<void> | undefined;
  let lookUpNow: (() => Promise<readonly string[]>) | undefined;

  const lookUpOnce = async (): Promise<void> => {
    try {
      lookUpNow ??= (await import("./names.ts")).createLookUp(name); // few need it
      ips = await lookUpNow();
    } catch (error) {
      reason = (error as Error).message;
      if (reason !== UNRESOLVED) ips = []; // it has no address any more; while no server tells, those it had are kept
    }
    underWay = undefined;
    const now = performance.now();
    dueAt = now + lookUpPeriodMs(now - since, Math.random());
  };
  return {
    ips: () => ips,
    reason: () => reason,
    lookUpIfDue() {
      if (underWay !== undefined || performance.now() < dueAt) return undefined;
      underWay = lookUpOnce();
      return underWay;
    },
    underWay: () => underWay,
  };
}

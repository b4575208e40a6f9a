import type { Cancel } from "../../../shared/http/connection.ts";
import { cancelNothing, notReady, type OnVerdict, type Prober } from "../prober.ts";

/** Creates a prober that asks all of `probers`. */
export function proberOfAny(probers: readonly Prober[]): Prober {
  return {
    attempt: (done) => attemptAny(probers, done),
    isDeciding: () => probers.some((prober) => prober.isDeciding?.()),
    end() {
      for (const prober of probers) prober.end?.();
    },
  };
}

/** Makes an attempt of each: ready as soon as one is, else not ready for the reasons of all, in their order. */
function attemptAny(probers: readonly Prober[], done: OnVerdict): Cancel {
  const reasons: string[] = [];
  // without those that have answered, which must not be cancelled: their connections are kept
  const cancels = new Map<Prober, Cancel>();
  const cancelAll = (): void => {
    for (const cancel of cancels.values()) cancel();
    cancels.clear();
  };
  for (const prober of probers) cancels.set(prober, cancelNothing);
  for (const [at, prober] of probers.entries()) {
    if (!cancels.has(prober)) return cancelNothing; // another one was ready at once
    const cancel = prober.attempt((verdict) => {
      cancels.delete(prober);
      if (verdict.ready) cancelAll();
      else reasons[at] = verdict.reason;
      if (cancels.size === 0) done(verdict.ready ? verdict : notReady([...new Set(reasons)].join(", ")));
    });
    if (cancels.has(prober)) cancels.set(prober, cancel);
  }
  return cancelAll;
}

/** A queue of events with one reader: what comes while nobody waits is kept, in order. */
export interface Queue<E> {
  push(event: E): void;
  next(): Promise<E>;
}

export function createQueue<E>(): Queue<E> {
  const events: E[] = [];
  let wake: ((event: E) => void) | undefined;
  return {
    push(event) {
      if (wake === undefined) {
        events.push(event);
        return;
      }
      const reader = wake;
      wake = undefined;
      reader(event);
    },
    next() {
      const event = events.shift();
      if (event !== undefined) return Promise.resolve(event);
      const { promise, resolve } = Promise.withResolvers<E>();
      wake = resolve;
      return promise;
    },
  };
}

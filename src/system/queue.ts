/** A queue of events with one reader: what comes while nobody waits is kept, in order. */
export interface Queue<E> {
  push(event: E): void;
  /** The reader gets the error in its turn, and nothing after it. */
  fail(error: unknown): void;
  next(): Promise<E>;
}

/** Creates an unbounded queue with one reader. After `fail` the reader gets what is in it, then the error. */
export function createQueue<E>(): Queue<E> {
  const events: E[] = [];
  let failure: { readonly error: unknown } | undefined;
  let reader: PromiseWithResolvers<E> | undefined;
  return {
    push(event) {
      if (reader === undefined) {
        events.push(event);
        return;
      }
      const { resolve } = reader;
      reader = undefined;
      resolve(event);
    },
    fail(error) {
      failure ??= { error };
      reader?.reject(error);
    },
    next() {
      const event = events.shift();
      if (event !== undefined) return Promise.resolve(event);
      if (failure !== undefined) return Promise.reject(failure.error);
      reader = Promise.withResolvers<E>();
      return reader.promise;
    },
  };
}

/** A queue of events with one reader. It keeps events in order until they are read. */
export interface Queue<E> {
  push(event: E): void;
  /**
   * Makes `next` reject with `error` as soon as the events that are in the queue have been read. The first error
   * counts.
   */
  fail(error: unknown): void;
  /** Resolves with the next event. Call it again only after that. */
  next(): Promise<E>;
}

/** Creates an empty queue of unbounded length. */
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

/** Runs a task as soon as there is room. */
export type Limit = <T>(task: () => Promise<T>) => Promise<T>;

/** Creates a function that runs tasks, of which at most `most` run at the same time; others wait in order. */
export function createLimit(most: number): Limit {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

/**
 * Returns a function that calls `compute`, or returns its last result if the argument is the same object as last time.
 */
export function memoizeLast<A extends object, R>(compute: (argument: A) => R): (argument: A) => R {
  let last: { readonly argument: A; readonly result: R } | undefined;
  return (argument) => {
    if (last?.argument !== argument) last = { argument, result: compute(argument) };
    return last.result;
  };
}

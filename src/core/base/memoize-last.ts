/** `compute`, which keeps its last result: the same argument gives it again. */
export function memoizeLast<A extends object, R>(compute: (argument: A) => R): (argument: A) => R {
  let last: { readonly argument: A; readonly result: R } | undefined;
  return (argument) => {
    if (last?.argument !== argument) last = { argument, result: compute(argument) };
    return last.result;
  };
}

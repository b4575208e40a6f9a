/** kubectl's short flags that the commands for a cluster have, too. */
export const kubectlShort = { n: "namespace", A: "all-namespaces", l: "selector", o: "output" };

/**
 * Returns the arguments with `-f FILE`, `-fFILE` and `-f=FILE` replaced by the long flag, up to `--`. `names` maps
 * letters to flags.
 */
export function expandShortFlags(args: readonly string[], names: Readonly<Record<string, string>>): readonly string[] {
  const end = args.indexOf("--");
  const own = end < 0 ? args : args.slice(0, end);
  const expanded = own.map((arg) => {
    const [, letter = "", value] = /^-([A-Za-z])(?:=?(.+))?$/s.exec(arg) ?? [];
    if (!Object.hasOwn(names, letter)) return arg;
    return value === undefined ? `--${names[letter]}` : `--${names[letter]}=${value}`;
  });
  return [...expanded, ...args.slice(own.length)];
}

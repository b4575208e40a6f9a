/** The most characters of an entry that are kept: ebb writes no longer ones. */
const MOST = 64 * 1024;

/**
 * Creates a function that joins the lines of objects as `jq .` prints them: `{`, lines that are indented, `}`. Any other
 * line it returns as it is.
 */
export function createJoiner(): (line: string) => string | undefined {
  let begun = "";
  return (line) => {
    const isWithin = begun !== "" && /^[\s}]/.test(line) && begun.length < MOST;
    const text = isWithin ? `${begun}${line}` : line;
    const isOpen = line === "{" || (isWithin && !line.startsWith("}"));
    begun = isOpen ? text : "";
    return isOpen ? undefined : text;
  };
}

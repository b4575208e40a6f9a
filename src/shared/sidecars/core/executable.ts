/** An executable whose processes are to be ended (`--signal-process`). */
export interface Executable {
  /** Its name or absolute path. */
  readonly name: string;
  /** Whether they are ended only if nothing else has ended the sidecar. */
  readonly isLastResort: boolean;
}

/**
 * Parses an executable's name or absolute path, after a `+` if it is a last resort. Returns undefined for anything
 * else.
 */
export function parseExecutable(text: string): Executable | undefined {
  const isLastResort = text.startsWith("+");
  const name = isLastResort ? text.slice(1) : text;
  return isExecutable(name) ? { name, isLastResort } : undefined;
}

function isExecutable(text: string): boolean {
  const folder = text.lastIndexOf("/") + 1;
  if (folder > 0 && !/^\/.*$/.test(text.slice(0, folder))) return false;
  return /^\S[^\n\0]*$/.test(text.slice(folder)) && text !== "." && text !== "..";
}

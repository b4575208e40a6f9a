/** The oldest version of Go that will do, and the one that installGo() installs. */
export const goVersion: string;
/**
 * Returns a Go that is new enough: `go` if that in PATH is, otherwise the path of the installed one, or undefined if it
 * is not installed. @throws Error if the installed one is damaged
 */
export function goPath(): string | undefined;
/** Installs Go with pip, as a whole or not at all. Returns undefined, or why it failed. */
export function installGo(): string | undefined;

/** The version that is installed where the machine has none that is new enough. */
export const goVersion: string;
/** A Go that is new enough: the machine's own or the installed one; undefined where there is none. @throws Error where that is damaged */
export function goPath(): string | undefined;
/** Installs it with pip, as a whole or not at all. Returns undefined, or why it cannot be had. */
export function installGo(): string | undefined;

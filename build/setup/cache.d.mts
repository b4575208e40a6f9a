/**
 * Returns the folder of downloads and of what is made of them: $XDG_CACHE_HOME/ebb or ~/.cache/ebb. It may be missing.
 */
export function cacheFolder(): string;

export function cacheFolder(): string;

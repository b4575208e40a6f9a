/** Writes SHA256SUMS into a folder, for `sha256sum -c`: the digests of the named files, by default of all. */
export function writeSums(folder: string, names?: readonly string[]): void;
/**
 * Compares a folder with its SHA256SUMS. Returns undefined if it has exactly these files, otherwise the first
 * difference.
 */
export function checkSums(folder: string): string | undefined;
/** Removes a folder's SHA256SUMS. Call it before the files change, so that the list is never that of other files. */
export function removeSums(folder: string): void;
/**
 * Compares a folder with a map from paths to SHA-256 digests in hexadecimal. Returns undefined if it has exactly these
 * files, otherwise the first difference.
 */
export function checkDigests(folder: string, digests: ReadonlyMap<string, string>): string | undefined;
/**
 * Moves the folder `made` to the path `folder`. What was there goes as a whole, so that no reader finds a part of it. If
 * another process puts one there at the same time, that one stays.
 */
export function moveIntoPlace(made: string, folder: string): void;

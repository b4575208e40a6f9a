/** Lists the files of a folder, as `sha256sum -c SHA256SUMS` reads it there; all of them, where none are named. */
export function writeSums(folder: string, names?: readonly string[]): void;
/** Why the files of a folder are not those that its list names; undefined: they are, and there are no others. */
export function checkSums(folder: string): string | undefined;
/** Before the files change: what is there is never that of other files. */
export function removeSums(folder: string): void;
/** Why the files of a folder are not those of a map from paths to SHA-256 digests in hexadecimal; undefined: they are. */
export function whyOther(folder: string, digests: ReadonlyMap<string, string>): string | undefined;
/** Gives a folder its place. What is there goes as a whole: nobody finds a part of it. */
export function moveIntoPlace(made: string, folder: string): void;

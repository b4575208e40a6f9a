const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Reports whether a JSON text has more than `most` characters outside its strings, each string counting as one.
 *
 * Ask before parsing, to bound the memory it takes: 3 such characters may become an object of 90 bytes, a string only
 * takes its length. Reading stops at the bound.
 */
export function hasMoreOutsideStrings(text: string, most: number): boolean {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text.charCodeAt(at) === QUOTE) at = endOfString(text, at);
    count += 1;
    if (count > most) return true;
  }
  return false;
}

/** Returns the offset of the quote that ends the string beginning at `start`, or the text's length if there is none. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let first = at;
    while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
    if ((at - first) % 2 === 0) return at;
  }
  return text.length;
}

/**
 * Splits a command line: a JSON array of words, or words with blanks between them. Undefined for an empty one, and for one with
 * quotes or backslashes: no shell reads it.
 */
export function parseCommandLine(text: string): readonly string[] | undefined {
  const words = text.trim().startsWith("[") ? parseArray(text) : plainWords(text);
  return words !== undefined && words.length > 0 && words[0] !== "" ? words : undefined;
}

function plainWords(text: string): readonly string[] | undefined {
  return /["'\\]/.test(text) ? undefined : text.split(/\s+/).filter((word) => word !== "");
}

function parseArray(text: string): readonly string[] | undefined {
  try {
    const words: unknown = JSON.parse(text);
    return Array.isArray(words) && words.every((word) => typeof word === "string") ? words : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Parses a command line to its words: a JSON array of strings, or words separated by white space. Returns undefined if
 * there are no words or the first is empty, and if words that are not JSON have quotes or backslashes, because no shell
 * reads them.
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

/** The most characters of a text of a pod that ebb looks into: what a person writes is shorter, what is longer costs time. */
export const LONGEST_READ = 4096;

/** Returns the words of a command line, or none if they are too long to be looked into. */
export function readable(words: readonly string[]): readonly string[] {
  return words.reduce((sum, word) => sum + word.length + 1, 0) > LONGEST_READ ? [] : words;
}

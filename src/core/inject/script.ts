/** The most characters of a script that are read: more cost time, and do more than wait. */
const MOST_READ = 4096;

/** What a script is made of: comments, redirections to nowhere, words, ends of commands, blanks; else it is not plain. */
const lexemes =
  /#.*|\d?(?:>>?|<)\s*(?:&\d|\/dev\/null)|&>\s*\/dev\/null|(?<word>(?:'[^'$]*'|"[^"`\\]*"|[^\s'"`\\;&|()<>])+)|(?<end>[;&|\n]+)|\s|(?<other>.)/g;

/** Words before a command: `if`, `!`, `PID=7`. */
const leading = /^(if|then|elif|else|fi|while|until|do|done|!|\w+=.*)$/s;

/**
 * Returns the commands of a shell's script, each as its words, with those of `$(...)` first. Returns undefined if the
 * script is not plain: long, or with functions, escapes, files.
 */
export function commandsIn(script: string): readonly (readonly string[])[] | undefined {
  if (script.length > MOST_READ) return undefined;
  const parts: string[] = [];
  let rest = script.replaceAll("\\\n", " ");
  for (let before = ""; before !== rest; ) {
    before = rest;
    rest = before.replace(/\$\(([^()]*)\)/g, (_, inner: string) => {
      parts.push(inner);
      return "$_";
    });
  }
  if (rest.includes("$(")) return undefined;
  const commands: string[][] = [];
  for (const part of [...parts, rest]) {
    let words: string[] = [];
    commands.push(words);
    for (const { groups: { word, end, other } = {} } of part.matchAll(lexemes)) {
      if (other !== undefined) return undefined;
      if (end !== undefined) {
        words = [];
        commands.push(words);
      }
      const text = word?.replaceAll(/['"]/g, "");
      if (text !== undefined && (words.length > 0 || !leading.test(text))) words.push(text);
    }
  }
  return commands.filter((words) => words.length > 0);
}

import type { ShownContainer } from "./kind.ts";

/** A flag of a proxy of Google's, the variable that stands for it, and its letter. */
interface Setting {
  readonly flag: string;
  readonly variable: string;
  readonly short?: string | undefined;
}

/**
 * Returns the value of a flag, `true` if it has none; else that of the variable. Returns undefined if neither is set, and
 * an empty text if the value is elsewhere.
 */
export function settingOf({ words, env }: ShownContainer, { flag, variable, short }: Setting): string | undefined {
  const names = short === undefined ? [`--${flag}`] : [`--${flag}`, `-${short}`];
  const at = words.findLastIndex((word) => names.some((name) => word === name || word.startsWith(`${name}=`)));
  const word = words[at];
  if (word === undefined) return env.has(variable) ? (env.get(variable) ?? "") : undefined;
  if (word.includes("=")) return word.slice(word.indexOf("=") + 1);
  const next = words[at + 1];
  return next === undefined || next.startsWith("-") || flag === "quitquitquit" ? "true" : next;
}

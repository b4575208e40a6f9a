import type { Found, Note, Said } from "../core/option.ts";

/** Gathers what a tool is told, as values of ebb's options. */
export interface Saying {
  readonly said: Said;
  /** The values of the option with this flag, as the flag would take them, and what gave them. */
  say(flag: string, origin: string, ...texts: readonly string[]): void;
  refuse(problem: string): void;
  note(note: Note): void;
}

export function createSaying(): Saying {
  const values = new Map<string, Found[]>();
  const problems: string[] = [];
  const notes: Note[] = [];
  return {
    said: { values, problems, notes },
    say(flag, origin, ...texts) {
      const found = values.get(flag) ?? [];
      values.set(flag, [...found, ...texts.map((text) => ({ origin, text }))]);
    },
    refuse: (problem) => void problems.push(problem),
    note: (note) => void notes.push(note),
  };
}

/** `NAME: expected WHAT, got "..."`, as options have it. */
export function unexpected(name: string, expected: string, got: string): string {
  return `${name}: expected ${expected}, got ${JSON.stringify(got)}`;
}

import { type Syntax, unexpected } from "../core/cli/syntax.ts";
import type { ForeignSettings, Found, Note } from "../core/cli/values.ts";
import type { FailureText } from "../core/messages/failure-text.ts";

/** Gathers what a tool is told, as values of ebb's options. */
export interface SettingsBuilder {
  readonly said: ForeignSettings;
  /** The values of the option with this flag, as the flag would take them, and what gave them. */
  add(flag: string, origin: string, ...texts: readonly string[]): void;
  /** Whether a value is what the syntax expects; refuses it where it is not. */
  check(found: Found, syntax: Syntax<unknown>): boolean;
  refuse(problem: FailureText): void;
  note(note: Note): void;
}

/** Collects what another tool's variables and flags mean as options of ebb, and what is wrong with them. */
export function createSettingsBuilder(): SettingsBuilder {
  const values = new Map<string, Found[]>();
  const problems: FailureText[] = [];
  const notes: Note[] = [];
  return {
    said: { values, problems, notes },
    add(flag, origin, ...texts) {
      const found = values.get(flag) ?? [];
      values.set(flag, [...found, ...texts.map((text) => ({ origin, text }))]);
    },
    check({ origin, text }, { parse, expected, shown }) {
      const isExpected = parse(text) !== undefined;
      if (!isExpected) problems.push(unexpected(origin, expected, text, shown));
      return isExpected;
    },
    refuse: (problem) => void problems.push(problem),
    note: (note) => void notes.push(note),
  };
}

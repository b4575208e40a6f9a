import { type Syntax, unexpected } from "../core/cli/syntax.ts";
import type { CompatSettings, Found, Note } from "../core/cli/values.ts";
import type { FailureText } from "../core/messages/failure-text.ts";

/** A builder of ebb's settings from another tool's variables and flags. */
export interface SettingsBuilder {
  /** All that was added so far. It grows with each call. */
  readonly compat: CompatSettings;
  /**
   * Adds values to the option with this flag, as texts that the flag would take. `origin` is the tool's variable or
   * flag that gave them.
   */
  add(flag: string, origin: string, ...texts: readonly string[]): void;
  /** Reports whether a value is what the syntax expects. If it is not, refuses it. */
  check(found: Found, syntax: Syntax<unknown>): boolean;
  refuse(problem: FailureText): void;
  note(note: Note): void;
}

/** Creates an empty builder of settings. */
export function createSettingsBuilder(): SettingsBuilder {
  const values = new Map<string, Found[]>();
  const problems: FailureText[] = [];
  const notes: Note[] = [];
  return {
    compat: { values, problems, notes },
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

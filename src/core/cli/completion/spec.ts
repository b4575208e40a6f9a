/**
 * What may stand in one place of a command line: anything, a path, one of some words, or several of them (`list`), by
 * commas.
 */
export type Choice =
  | { readonly kind: "anything" }
  | { readonly kind: "files" }
  | { readonly kind: "words" | "list"; readonly words: readonly string[] };

export interface CompletedFlag {
  readonly flag: string;
  readonly help: string;
  /** The value's name in help; undefined for a switch. */
  readonly value: string | undefined;
  readonly choice: Choice;
  readonly repeatable: boolean;
}

export interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly CompletedFlag[];
  readonly operands: Choice;
}

/** The operands of a command that completion proposes: these words, or files. */
export type Operands = readonly string[] | "files";

/** A flag that stands in the place of a command, such as `--version`, and the flags that may follow it. */
export interface AboutFlag {
  readonly flag: string;
  readonly help: string;
  readonly followers: readonly string[];
}

/** What can stand in one place of a command line: a path, one of some words, or words with commas between them. */
export type Choice =
  | { readonly kind: "anything" }
  | { readonly kind: "files" }
  | { readonly kind: "words" | "list"; readonly words: readonly string[] };

export interface CompletedFlag {
  readonly flag: string;
  readonly help: string;
  /** The value's name; undefined for a switch. */
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

/** What a command's operands may be, where completion can know it. */
export type Operands = readonly string[] | "files";

/** What stands alone, in the place of a command, and the flags that may follow. */
export interface AboutFlag {
  readonly flag: string;
  readonly help: string;
  readonly followers: readonly string[];
}

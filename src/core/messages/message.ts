export type Level = "debug" | "info" | "warn" | "error";

/** What each field says, with its unit. A name that ends with `?` is left out where it does not apply. */
type Fields = Readonly<Record<string, string>>;

interface Always {
  /** The commands that write it; `all` has the start of any command, `pod` run, wait, quit, drain, status and request. */
  readonly by: string;
  readonly fields: Fields;
}

/** One that needs no act. */
interface Quiet extends Always {
  readonly level: "debug" | "info" | readonly ["debug", "info"];
}

/** One that a user has to understand: why it is written, and what to do. */
interface Loud extends Always {
  readonly level: "warn" | "error" | readonly ["debug" | "info", "warn"] | readonly ["info" | "warn", "error"] | Levels;
  readonly cause: string;
  readonly cure: string;
}

type Levels = readonly ["info", "warn", "error"];

/** Log messages by their text. Types and pages are made of it: nothing that runs imports it. */
export type Catalogue = Readonly<Record<string, Quiet | Loud>>;

/** Failures by their text, in which `{name}` stands for a value. */
export type FailureCatalogue = Readonly<
  Record<string, { readonly exit: number | readonly number[]; readonly cause: string; readonly cure: string }>
>;

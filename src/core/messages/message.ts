/** Failures by their text, in which `{name}` stands for a value. */
export type FailureCatalogue = Readonly<
  Record<string, { readonly exit: number | readonly number[]; readonly cause: string; readonly cure: string }>
>;

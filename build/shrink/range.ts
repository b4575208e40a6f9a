/** A part of a file: from its first byte to the one after its last. */
export type Range = { readonly from: number; readonly to: number };

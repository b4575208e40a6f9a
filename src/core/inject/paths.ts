/** Where the API server asks about a pod that speaks for itself, and about one whose namespace has the label ebb.dev/inject=true. */
export const PATH = "/mutate";
export const NAMESPACE_PATH = "/mutate/namespace";

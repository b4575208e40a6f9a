/** The webhook's path for pods that ask for ebb themselves; with --all for all pods. */
export const MUTATE_PATH = "/mutate";
/** The webhook's path for pods of namespaces with the label ebb.dev/inject=true, which need not ask. */
export const MUTATE_NAMESPACE_PATH = "/mutate/namespace";

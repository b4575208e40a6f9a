import type { Remark } from "../pod.ts";
import type { Chosen } from "./choose.ts";

/**
 * Returns the remark on a container whose command nobody knows, so that ebb does not start it. `consequence`: what
 * follows for the container; empty if the whole pod stays as it is.
 */
export function unknownCommand({ at, container }: Chosen, reason: string, consequence: string): Remark {
  const what = (container.args ?? []).length > 0 ? "ENTRYPOINT" : "ENTRYPOINT and CMD";
  const message = `not in the manifest${consequence}: ${reason}; ebb.dev/entrypoint.${container.name}, or command here, can give its ${what} instead`;
  return { field: `spec.containers[${at}].command`, message };
}

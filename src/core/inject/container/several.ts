import { pickOptions } from "../../cli/options.ts";
import { resolve } from "../../cli/values.ts";
import { Failure } from "../../run/exit.ts";
import type { Context } from "../context.ts";
import type { Remark } from "../remark.ts";
import { isAlwaysRestarted } from "./hooks.ts";
import type { AppPart } from "./part.ts";

/**
 * Finds several containers that each quit the sidecars when they end: the first takes them from the others. Returns at
 * most one remark. `isRefused`: it is a problem, not a warning, because the pod does not name its containers.
 */
export function findRivalQuitters(
  parts: readonly AppPart[],
  { pod, told }: Context,
): { readonly isRefused: boolean; readonly remarks: readonly Remark[] } {
  const isRefused = told.wishes.containers === undefined;
  const quitters = parts.filter(({ command }) => command !== undefined).filter(quits);
  if (isAlwaysRestarted(pod) || quitters.length < 2) return { isRefused, remarks: [] };
  const names = quitters.map(({ container }) => container.name).join(", ");
  const never = "annotate it with ebb.dev/quit-on.NAME: never for all but one";
  const message = isRefused
    ? `whichever of ${names} ends first would quit the sidecars that the others still need: name with ebb.dev/containers the one that ends last, or ${never}`
    : `whichever of ${names} ends first quits the sidecars, also under the others: ${never} if that is not meant`;
  return { isRefused, remarks: [{ field: "spec.containers", message }] };
}

/**
 * Reports whether `ebb run` will quit the sidecars there, by its variables. A value that it will refuse counts as yes.
 */
function quits({ container, env }: AppPart): boolean {
  const variables = [...(container.env ?? []), ...env].map(({ name, value }) => [name, value ?? undefined] as const);
  try {
    return (
      resolve(pickOptions("quitOn"), { flags: new Map(), env: Object.fromEntries(variables) }).values.quitOn !== "never"
    );
  } catch (error) {
    if (error instanceof Failure) return true;
    throw error;
  }
}

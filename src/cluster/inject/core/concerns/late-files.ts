import { kindOf, sidecarNames } from "../../../../shared/sidecars/core/registry.ts";
import type { Concern } from "./concern.ts";

/** A sidecar may write what an app reads only after that has started. */
export const lateFiles: Concern = ({ annotations }, apps) => {
  const isConcerned = apps.some(({ start, isGiven }) => start.kind === "wrapped" && !isGiven("ready"));
  const messages = isConcerned ? sidecarNames.flatMap((name) => kindOf(name).filesComeLate?.(annotations) ?? []) : [];
  return { warnings: messages.map((message) => ({ field: "metadata.annotations", message })) };
};

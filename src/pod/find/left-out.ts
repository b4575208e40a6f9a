import type { CallContext } from "../../shared/cli/core/call.ts";
import type { Log } from "../../shared/output/log.ts";
import { leftOut } from "../../shared/sidecars/core/left-out.ts";
import { readAnnotations } from "./annotations.ts";
import type { SidecarSettings } from "./find.ts";

/** Logs a warning if `--sidecar` leaves out sidecars that this pod shows, and that will keep it running. */
export function warnOfLeftOut(
  settings: SidecarSettings,
  { env, log }: Pick<CallContext, "env"> & { readonly log: Log },
): void {
  const { sidecar, podAnnotations } = settings;
  if (sidecar.isAuto || sidecar.named.length === 0) return;
  const left = leftOut(sidecar, { env, annotations: readAnnotations(podAnnotations) }, settings);
  if (left === undefined) return;
  const { names: sidecars, by, how } = left;
  log.warn({ sidecars, by, how }, "--sidecar leaves out sidecars of this pod: they keep it running");
}

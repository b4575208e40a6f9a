import type { App } from "../apps/app.ts";
import { AT_MOST, delayOptions } from "../apps/post-start.ts";
import type { Concern, Note } from "./concern.ts";

/** A postStart hook may hold up the sidecars that ebb waits for. */
export const postStart: Concern = (_, apps) => ({ warnings: apps.flatMap(remarkOnDelay) });

/** Returns the warning for a container whose hook does that; none if the user says how long ebb waits. */
function remarkOnDelay({ name, delay, isGiven }: App): readonly Note[] {
  if (delay === undefined || delayOptions(delay).every(([flag]) => isGiven(flag)) || isGiven("no-wait")) return [];
  const message =
    delay.kind === "later"
      ? `put "${delay.container}" before this container, or make it native: it starts only when this hook has ended, so ebb starts the app without waiting for it`
      : `this hook delays sidecars that are injected after this container, so ebb waits ${AT_MOST} at most: name a native one in ebb.dev/native, or set ebb.dev/sidecar: none if there is none`;
  return [{ container: name, field: "lifecycle.postStart", message }];
}

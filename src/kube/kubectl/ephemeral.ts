import { isAtWork, notStarted } from "../../core/reap/ephemeral.ts";
import { type ContainerView, viewOf } from "../../core/reap/pod-view.ts";
import { EXIT, Failure } from "../../core/run/exit.ts";
import { pause } from "../controller/pause.ts";
import { addEphemeral } from "../reaper/methods/ephemeral.ts";
import { pathOf } from "../reaper/methods/target.ts";
import { type PodSession, readAgain } from "./session.ts";

/** The image of the container, as the flags have it. */
export interface EphemeralImage {
  readonly image: string | undefined;
  readonly imagePullPolicy: string | undefined;
}

const PREFIX = "ebb-kubectl-";
const LOOK_MS = 500;

/**
 * Runs ebb in an ephemeral container of a pod. Resolves with what it wrote and its exit code. Rejects with Failure(69)
 * if it does not start, or if another pod has the name.
 */
export async function runInEphemeral(
  words: readonly string[],
  { image, imagePullPolicy }: EphemeralImage,
  session: PodSession,
): Promise<{ readonly text: string; readonly code: number }> {
  const { api, ref, signal } = session;
  const fresh = await readAgain(session);
  const name = `${PREFIX}${viewOf(fresh).ephemeralContainers.length + 1}`;
  await addEphemeral({ name, args: words, env: [] }, fresh, { api, signal, image, imagePullPolicy });
  const state = await endOf(name, session);
  if (state?.kind !== "terminated") {
    const waiting = state?.kind === "waiting" ? state : { reason: "gone" };
    throw new Failure(EXIT.unavailable, `pod ${ref.name}: ${notStarted(name, waiting)}`);
  }
  return { text: await api.text(`${pathOf(ref)}/log?container=${name}`, { signal }), code: state.exitCode };
}

/** Waits until a container has ended, or will not start. Resolves with its state; undefined if it is not there. */
async function endOf(name: string, session: PodSession): Promise<ContainerView["state"] | undefined> {
  for (;;) {
    const one = viewOf(await readAgain(session)).ephemeralContainers.find((each) => each.name === name);
    if (one === undefined || !isAtWork(one)) return one?.state;
    await pause(LOOK_MS, session.signal);
    session.signal.throwIfAborted();
  }
}

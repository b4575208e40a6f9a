import { isAtWork } from "../../core/reap/ephemeral.ts";
import { type ContainerView, viewOf } from "../../core/reap/pod-view.ts";
import { EXIT, Failure } from "../../core/run/exit.ts";
import type { ApiClient } from "../api/client.ts";
import { pause } from "../controller/pause.ts";
import { type PodRef, pathOf } from "../reaper/act/acting.ts";
import { addEphemeral } from "../reaper/act/ephemeral.ts";

interface Context {
  readonly api: ApiClient;
  readonly pod: PodRef;
  readonly image: string;
  readonly imagePullPolicy?: string | undefined;
  readonly signal: AbortSignal;
}

const PREFIX = "ebb-kubectl-";
const LOOK_MS = 500;

/**
 * Runs ebb in an ephemeral container of a pod. Resolves with what it wrote and its exit code. Rejects with Failure(69)
 * if it does not start, or if another pod has the name.
 */
export async function runInEphemeral(
  words: readonly string[],
  { api, pod, signal, ...image }: Context,
): Promise<{ readonly text: string; readonly code: number }> {
  const fresh = await api.get(pathOf(pod), { signal });
  if (fresh.metadata.uid !== pod.uid) throw failure(pod, "another pod has its name now");
  const name = `${PREFIX}${viewOf(fresh).ephemeralContainers.length + 1}`;
  await addEphemeral({ name, args: words, env: [] }, fresh, { api, signal, ...image });
  const state = await endOf(name, { api, pod, signal });
  if (state?.kind !== "terminated") {
    const why =
      state?.kind === "waiting" ? `${state.reason}${state.message === undefined ? "" : `: ${state.message}`}` : "gone";
    throw failure(pod, `ephemeral container ${name} does not start: ${why}`);
  }
  return { text: await api.text(`${pathOf(pod)}/log?container=${name}`, { signal }), code: state.exitCode };
}

/** Waits until a container has ended, or will not start. Resolves with its state; undefined if it is not there. */
async function endOf(
  name: string,
  { api, pod, signal }: Pick<Context, "api" | "pod" | "signal">,
): Promise<ContainerView["state"] | undefined> {
  for (;;) {
    const { ephemeralContainers, uid } = viewOf(await api.get(pathOf(pod), { signal }));
    const one = ephemeralContainers.find((each) => each.name === name);
    if (uid !== pod.uid || one === undefined || !isAtWork(one)) return one?.state;
    await pause(LOOK_MS, signal);
    signal.throwIfAborted();
  }
}

function failure({ name }: PodRef, why: string): Failure {
  return new Failure(EXIT.unavailable, `pod ${name}: ${why}`);
}

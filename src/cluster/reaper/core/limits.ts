/** Limits of the reaper. Nobody tunes them; tests take others. */
export interface ReaperLimits {
  /** The number of pods that are handled at the same time. */
  readonly concurrency: number;
  /** The number of requests to the API server at once, after a pause. --qps limits them on average. */
  readonly burst: number;
  /** Milliseconds after which all pods are listed again, in case the watch missed a change. */
  readonly resync: number;
}

export const reaperLimits: ReaperLimits = {
  concurrency: 10, // the default --qps lets five pods a second end
  burst: 30, // controller-runtime's (pkg/client/config)
  resync: 600_000, // a list of all pods is the most expensive request
};

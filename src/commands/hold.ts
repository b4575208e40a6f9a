import { beginLog } from "../begin-log.ts";
import { badCall, type Command, type Invocation } from "../command.ts";
import { readAnnouncements } from "../pod/announce/announce.ts";
import { othersIn } from "../pod/announce/core/announcement.ts";
import { findSidecars } from "../pod/find/find.ts";
import { hold } from "../pod/hold/hold.ts";
import { openPodLog } from "../pod/process/pod-log.ts";
import { readFlagCall } from "../shared/cli/core/call.ts";
import { optionsOf } from "../shared/cli/core/options.ts";
import { EXIT, Failure } from "../shared/core/exit.ts";
import { trustFile } from "../shared/http/trust.ts";
import { stopOf } from "../shared/process/stop.ts";

const options = optionsOf("hold");

/**
 * `ebb hold` is the preStop hook of an ordinary proxy: it stays until no `ebb run` of the pod's other containers is
 * left, so that the kubelet ends the proxy after the app. Exits with 0, at once if there is none; with 128+n after stop
 * signal n.
 */
export const command: Command = {
  summary: "keep a proxy until the apps have ended (its preStop hook)",
  usage: "hold [flags]",
  page: "drain",
  about:
    "For the preStop hook of an ordinary proxy: stays until no `ebb run` of the pod's other containers is left. So the proxy outlives the app, whose calls work until it has ended. Its limit is the pod's terminationGracePeriodSeconds.",
  examples: [
    {
      call: "ebb hold",
      why: 'As preStop hook of the proxy: exec: { command: ["/ebb", "hold"] }. The app starts with ebb run.',
    },
    { call: "ebb hold --sidecar envoy:9000", why: "Where the Envoy's admin interface is on port 9000." },
  ],
  exits: [
    ["0", "no ebb run of another container is left, or there was none"],
    badCall,
    ["71", "the system does not tell which programs run in this pod"],
    ["128+n", "signal n ended it"],
  ],
  seeAlso: ["run", "drain"],
  options,
  main,
};

async function main({ args, env, signals }: Invocation): Promise<number> {
  const { values } = readFlagCall(options, { args, env }, command.usage);
  const stop = stopOf(signals);
  const log = beginLog(values, { env }, openPodLog());
  trustFile(values.caFile);
  const { running } = look();
  if (running.length === 0) {
    const how = "if ebb does not start the app, ebb drain is the hook for both containers";
    log.info({ how }, "nothing to hold for: no ebb run of another container runs its command");
    return EXIT.ok;
  }
  const start = performance.now();
  log.info({ apps: running.map(({ program }) => program) }, "holding the proxy until the apps have ended");
  const settings = { ...values, ready: [], quit: [] };
  const { signal } = stop;
  const find = async () => {
    const { sidecars } = await findSidecars(settings, { env, forMs: 0, before: [], anyPort: true, signal, log });
    return sidecars;
  };
  await hold({ look, find, log, signal });
  if (signal.aborted) return 128 + (await stop.came);
  log.info({ heldMs: Math.round(performance.now() - start) }, "the apps have ended: letting the proxy go");
  return EXIT.ok;
}

/** Returns the `ebb run`s of other containers whose commands run. @throws Failure(71) if nothing tells */
function look() {
  const others = readAnnouncements(othersIn);
  if (others !== undefined) return others;
  throw new Failure(EXIT.system, "hold: cannot read /proc/net/unix and /proc/self/ns/mnt, which show who else runs");
}

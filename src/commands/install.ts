import { beginLog } from "../begin-log.ts";
import type { Command, Invocation } from "../command.ts";
import { installSelf } from "../pod/install/install.ts";
import { readOperandCall } from "../shared/cli/core/call.ts";
import { optionsOf } from "../shared/cli/core/options.ts";
import { EXIT, Failure } from "../shared/core/exit.ts";
import { onStop } from "../shared/process/stop.ts";

const options = optionsOf("install");

/** `ebb install DEST` copies ebb into a volume, for a container whose image stays as it is. */
export const command: Command = {
  summary: "copy ebb into a shared volume",
  usage: "install [flags] DEST",
  examples: [
    {
      call: "ebb install /shared/ebb",
      why: "In an init container with an emptyDir at /shared. The app's container then runs /shared/ebb run -- /app.",
    },
  ],
  exits: [
    ["0", "DEST is a whole copy"],
    ["64", "DEST is not a regular file"],
    ["71", "the system refused: no such folder, no room, read-only, no permission"],
    ["128+n", "signal n ended it; nothing is left behind"],
  ],
  seeAlso: ["run"],
  options,
  operands: "files",
  main,
};

const NOEXEC = "mount the volume without noexec in the container that starts ebb from it, or use an emptyDir";

async function main({ args, env, signals }: Invocation): Promise<number> {
  const call = readOperandCall(options, { args, env });
  const [dest, ...more] = [...call.operands, ...call.command];
  if (!dest || more.length > 0) {
    throw new Failure(EXIT.usage, `install: expected one file to write; usage: ebb ${command.usage}`);
  }
  const log = beginLog(call.values, { env });
  const stop = new AbortController();
  onStop(signals, (signal) => stop.abort(signal));
  try {
    const { bytes, canStart } = await installSelf(dest, stop.signal);
    log.info({ dest, bytes }, "installed ebb");
    if (!canStart) log.warn({ dest, how: NOEXEC }, "the copy cannot be executed here: its volume is mounted noexec");
    return EXIT.ok;
  } catch (error) {
    if (stop.signal.aborted) return 128 + stop.signal.reason;
    throw error;
  }
}

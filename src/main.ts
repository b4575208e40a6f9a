import { dispatch } from "./dispatch.ts";
import { report } from "./invoke.ts";
import { handleUncaught } from "./pod/bug.ts";
import { resolveCommand } from "./shared/cli/core/resolve.ts";
import { baseName } from "./shared/core/text.ts";
import { exit } from "./shared/native/exit.ts";
import { catchSignals } from "./shared/process/signals.ts";

process.on("uncaughtException", onUncaught);
process.on("unhandledRejection", onUncaught);

// Before anything else: a signal without a handler is lost for PID 1, and ends any other process.
const signals = catchSignals();

// Not awaited: a module that awaits costs each start 0.3 ms (measured).
dispatch(resolveCommand(process.argv.slice(2), baseName(process.argv0)), signals).then(exit, (error: unknown) =>
  exit(report(error)),
);

function onUncaught(error: unknown): void {
  if (!handleUncaught(error)) exit(report(error));
}

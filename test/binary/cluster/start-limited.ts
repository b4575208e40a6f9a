import { reaperLimits } from "../../../src/cluster/reaper/core/limits.ts";
import { webhookLimits } from "../../../src/cluster/webhook/core/webhook-limits.ts";
import { main as reaper } from "../../../src/commands/reaper.ts";
import { main as webhook } from "../../../src/commands/webhook.ts";
import { report } from "../../../src/invoke.ts";
import { exit } from "../../../src/shared/native/exit.ts";
import { catchSignals } from "../../../src/shared/process/signals.ts";

// bun start-limited.ts LIMITS EBB webhook|reaper FLAG...: as `ebb webhook` or `ebb reaper`, with these limits (JSON).

const signals = catchSignals();
const [limits = "{}", , name, ...args] = process.argv.slice(2);
const invocation = { args, argvIndex: undefined, env: process.env, signals };
const given = JSON.parse(limits);
const running =
  name === "webhook"
    ? webhook(invocation, { ...webhookLimits, ...given })
    : reaper(invocation, { ...reaperLimits, ...given });
running.then(exit, (error: unknown) => exit(report(error)));

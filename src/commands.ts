import type { Command } from "./command.ts";
import { command as completion } from "./commands/completion.ts";
import { command as config } from "./commands/config.ts";
import { command as doctor } from "./commands/doctor.ts";
import { command as drain } from "./commands/drain.ts";
import { command as hold } from "./commands/hold.ts";
import { command as image } from "./commands/image.ts";
import { command as inject } from "./commands/inject.ts";
import { command as install } from "./commands/install.ts";
import { command as manifests } from "./commands/manifests.ts";
import { command as quit } from "./commands/quit.ts";
import { command as reaper } from "./commands/reaper.ts";
import { command as request } from "./commands/request.ts";
import { command as run } from "./commands/run.ts";
import { command as sleep } from "./commands/sleep.ts";
import { command as status } from "./commands/status.ts";
import { command as timeline } from "./commands/timeline.ts";
import { command as wait } from "./commands/wait.ts";
import { command as webhook } from "./commands/webhook.ts";
import type { CommandName } from "./shared/cli/core/names.ts";

/** All commands by name, in the order of `--help`. */
export const commands: Readonly<Record<string, Command>> = {
  run,
  wait,
  sleep,
  drain,
  hold,
  quit,
  request,
  status,
  install,
  inject,
  image,
  webhook,
  reaper,
  manifests,
  doctor,
  timeline,
  config,
  completion,
} satisfies Record<CommandName, Command>;

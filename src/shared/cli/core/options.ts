import type { CommandName } from "./names.ts";
import type { Option, Options, Values } from "./option.ts";
import { child } from "./options/child.ts";
import { detection } from "./options/detection.ts";
import { output } from "./options/output.ts";
import { shutdown } from "./options/shutdown.ts";
import { sidecars } from "./options/sidecars.ts";
import { waiting } from "./options/waiting.ts";

/** Every option that a command in the pod can have, in the order of the manual. `ebb config` takes them all. */
export const options = { ...sidecars, ...waiting, ...shutdown, ...detection, ...child, ...output } as const;

type All = typeof options;
export type OptionName = keyof All;

/** The values of some of these options. */
export type Settings<K extends OptionName = OptionName> = Pick<Values<All>, K>;

/** Those of `options` that a command takes. */
export type OptionsOf<C extends CommandName> = {
  readonly [K in OptionName as All[K] extends Option<unknown, infer O> ? (C extends O ? K : never) : never]: All[K];
};

/** Returns those of `options` that a command takes, in their order. */
export function optionsOf<C extends CommandName>(command: C): OptionsOf<C> {
  return pick((_, { commands }) => commands.includes(command)) as OptionsOf<C>;
}

/** Returns the options with these names, in the order of `options`. */
export function pickOptions<K extends OptionName>(...names: readonly K[]): Pick<All, K> {
  return pick((name) => (names as readonly string[]).includes(name)) as Pick<All, K>;
}

function pick(isWanted: (name: string, option: Option<unknown>) => boolean): Options {
  const picked: Record<string, Option<unknown>> = {};
  for (const name in options) {
    const option = options[name as OptionName];
    if (isWanted(name, option)) picked[name] = option;
  }
  return picked;
}

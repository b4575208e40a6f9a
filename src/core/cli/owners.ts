import type { FailureText } from "../messages/failure-text.ts";
import type { Options } from "./option.ts";

type Commands = Readonly<Record<string, { readonly options: Options }>>;

/**
 * Returns a line for each of these unknown flags (names without dashes) that other commands have: `--json belongs to
 * ebb config and ebb status: call that, or leave the flag out`. Ignores flags that no command has.
 */
export function describeFlagOwners(flags: readonly string[], commands: Commands): readonly FailureText[] {
  return flags.flatMap((flag): readonly FailureText[] => {
    const owners = Object.entries(commands).filter(([, { options }]) => hasFlag(options, flag));
    if (owners.length === 0) return [];
    return [`--${flag} belongs to ${listed(owners.map(([name]) => `ebb ${name}`))}: call that, or leave the flag out`];
  });
}

function hasFlag(options: Options, flag: string): boolean {
  return Object.values(options).some((option) => option.flag === flag);
}

function listed(names: readonly string[]): string {
  return names.length === 1 ? (names[0] as string) : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

import { exitMeanings } from "./exit.ts";
import type { Option, Options } from "./option.ts";

interface Summary {
  readonly summary: string;
}

interface Described {
  readonly usage: string;
  readonly options: Options;
}

/** `ebb --help`. */
export function overview(commands: Readonly<Record<string, Summary>>): string {
  const rows = Object.entries(commands).map(([name, { summary }]) => [name, summary] as const);
  return `ebb: the life of an application container beside a sidecar

usage: ebb [run] [flags] -- CMD ARG...
       ebb COMMAND [flags]

commands:
${columns(rows)}
exit codes:
${columns(exitMeanings)}
ebb COMMAND --help lists a command's flags. Each has a variable too: --wait-timeout is EBB_WAIT_TIMEOUT.
`;
}

/** `ebb COMMAND --help`. */
export function describeCommand(name: string, { usage, options }: Described): string {
  const rows = Object.values(options).map((option) => [flagOf(option), helpOf(option)] as const);
  return `usage: ebb ${usage}\n\nflags of ebb ${name}:\n${columns(rows)}`;
}

export function flagOf({ flag, value }: Option<unknown>): string {
  return value === undefined ? `--${flag}` : `--${flag} ${value}`;
}

/** What is in force when the option is not given; empty: nothing. */
export function defaultOf({ initially, value }: Option<unknown>): string {
  return value === undefined ? "" : initially;
}

function helpOf(option: Option<unknown>): string {
  const initial = defaultOf(option);
  return `${option.help}${initial === "" ? "" : ` (default: ${initial})`}${option.repeatable ? "; repeatable" : ""}`;
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  return rows.map(([left, right]) => `  ${left.padEnd(width)}${right}\n`).join("");
}

import { type CommandName, toolNames } from "./names.ts";
import type { Option, OptionGroup, Options } from "./option.ts";

/** What `--help` says about a command, as plain text without line breaks. */
export interface CommandHelp {
  /** Its line in `ebb --help`. */
  readonly summary: string;
  /** The text after `ebb` on the usage line. */
  readonly usage: string;
  /** What the command does; undefined if that is the first paragraph of its page in the manual. */
  readonly about?: string;
  /** The page of the manual that says more; undefined if it has the command's name. */
  readonly page?: string;
  readonly examples: readonly Example[];
  /** The exit codes that mean something particular for this command. */
  readonly exits: readonly (readonly [code: string, meaning: string])[];
  /** Related commands. */
  readonly seeAlso: readonly CommandName[];
  readonly options: Options;
}

interface Example {
  /** A call as it is typed: `ebb run -- /app`. */
  readonly call: string;
  readonly why: string;
}

type Summary = Pick<CommandHelp, "summary">;

type Row = readonly [left: string, right: string];

/** Returns the text of `ebb --help`: usage, and each command with its summary. `width` is in columns. */
export function listCommands(commands: Readonly<Record<string, Summary>>, width: number): string {
  const rows = Object.entries(commands).map(([name, { summary }]): Row => [name, summary]);
  return `ebb: the life of an application container beside a sidecar

usage: ebb [run] [flags] -- CMD ARG...
       ebb COMMAND [flags]

${columns("commands", rows, width)}
${wrap(`As a drop-in replacement, with the tool's own variables and flags: \`ebb NAME\`, or a file called NAME, for ${toolNames.join(", ")}.`, width, "")}
ebb COMMAND --help         flags, examples and exit codes of a command
ebb help                   the topics of the manual, ebb help TOPIC one of them
ebb --version [--json]     print the version; --json adds build details
ebb --licenses             the licences of that
`;
}

/** Returns the text of `ebb help`: the topics of the manual with their titles. `width` is in columns. */
export function listPages(pages: readonly (readonly [topic: string, title: string])[], width: number): string {
  return `${columns("ebb help TOPIC prints a page of the manual", pages, width)}
ebb --help lists the commands, ebb COMMAND --help the flags of one.
`;
}

/**
 * Returns the text of `ebb COMMAND --help`: description, examples, flags by group, exit codes. Lines have at most
 * `width` columns, unless a single word is longer. `program` is what stands before the commands.
 */
export function describeCommand(command: Described, width: number, program = "ebb"): string {
  const { usage, about, page, examples, exits, seeAlso, options } = command;
  const sections = [
    `usage: ${program} ${usage}\n`,
    wrap(about, width, ""),
    `examples:\n${examples.map(({ call, why }) => `  ${call}\n${wrap(why, width, DEEP)}`).join("")}`,
    ...groupNames.map((group) => describeGroup(group, options, width)),
    nameRare(options, `${program} help ${page}`, width),
    columns("exit codes", exits, width),
    (seeAlso.length === 0 ? "" : wrap(`see also: ${seeAlso.map((name) => `ebb ${name}`).join(", ")}`, width, "")) +
      wrap(`more: ${program} help ${page}`, width, ""),
  ];
  return sections.filter((section) => section !== "").join("\n");
}

/** A command's help with all that its page in the manual gives. */
export interface Described extends CommandHelp {
  readonly about: string;
  readonly page: string;
}

interface Tool {
  readonly usage: string;
  readonly about: string;
  readonly takes: readonly string[];
}

/** Returns the text of `ebb scuttle --help`: what ebb does if it is started by the name of another tool. */
export function describeTool(name: string, { usage, about, takes }: Tool, width: number): string {
  const own = `ebb's own variables (EBB_...) count too, before those of ${name}; \`ebb --help\` and \`ebb COMMAND --help\` list them.`;
  return [
    `usage: ${name} ${usage}\n`,
    wrap(`ebb in the place of ${name}. ${about}`, width, ""),
    `what ebb reads, with ${name}'s meaning:\n${takes.map((each) => wrap(each, width, "  ")).join("")}`,
    wrap(own, width, ""),
  ].join("\n");
}

const DEEP = "      ";

const groupTitles: Readonly<Record<OptionGroup, string>> = {
  sidecars: "sidecars",
  waiting: "waiting",
  child: "the command",
  shutdown: "shutdown",
  request: "the request",
  log: "log",
  injection: "the change",
  registries: "registries",
  serving: "serving",
  certificates: "certificates",
  installation: "the installation",
  reaping: "what is ended, and how",
  cluster: "the API server",
  output: "output",
};

const groupNames = Object.keys(groupTitles) as readonly OptionGroup[];

function describeGroup(group: OptionGroup, options: Options, width: number): string {
  const members = Object.values(options).filter((option) => option.group === group && !option.isRare);
  if (members.length === 0) return "";
  return `${groupTitles[group]}:\n${members.map((option) => describeOption(option, width)).join("")}`;
}

/** Names the options that few set, in one paragraph; "" if there are none. `page`: the call that prints what they do. */
function nameRare(options: Options, page: string, width: number): string {
  const rare = Object.values(options).filter(({ isRare }) => isRare);
  return rare.length === 0 ? "" : `rarely set, see ${page}:\n${wrap(rare.map(flagOf).join(", "), width, "  ")}`;
}

function describeOption(option: Option<unknown>, width: number): string {
  const initial = defaultOf(option);
  const notes = [option.repeatable ? "repeatable" : "", initial === "" ? "" : `default: ${initial}`].filter(Boolean);
  const text = `${option.help}${notes.length === 0 ? "" : ` (${notes.join("; ")})`}`;
  const variables = option.variables.map(({ name }) => name).join(", ");
  return `  ${flagOf(option)}\n${wrap(text, width, DEEP)}${variables === "" ? "" : wrap(`[${variables}]`, width, DEEP)}`;
}

/** Formats an option's flag with the name of its value: `--grace DURATION`, or `--json` for a switch. */
export function flagOf({ flag, value }: Option<unknown>): string {
  return value === undefined ? `--${flag}` : `--${flag} ${value}`;
}

/** Returns the text for an option's default in help; empty for a switch, and for an option without a default. */
export function defaultOf({ initially, value }: Option<unknown>): string {
  return value === undefined ? "" : initially;
}

function columns(title: string, rows: readonly Row[], width: number): string {
  const left = Math.max(...rows.map(([name]) => name.length)) + 4;
  const lines = rows.map(([name, text]) => `  ${name}`.padEnd(left) + wrap(text, width, " ".repeat(left)).slice(left));
  return `${title}:\n${lines.join("")}`;
}

/**
 * Wraps a text at blanks to lines of at most `width` columns, with `indent` before each line and a line break after it.
 * A word that is too long has its own line.
 */
export function wrap(text: string, width: number, indent: string): string {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(indent + word);
  }
  return lines.map((line) => `${line}\n`).join("");
}

import { type CommandName, pageFor, toolNames } from "./names.ts";
import { type Option, type OptionGroup, type Options, OWN } from "./option.ts";

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

type Row = readonly [left: string, right: string];

/** How help looks: its width in columns, and what marks its headings, and its flags and names. */
export interface Look {
  readonly width: number;
  readonly heading: (text: string) => string;
  readonly flag: (text: string) => string;
}

const same = (text: string) => text;
const marked = (code: number) => (text: string) => `\x1b[${code}m${text}\x1b[0m`;
const BOLD = 1;
const CYAN = 36;

/** Returns the look of help in so many columns, with colours for a terminal or without. */
export function lookOf(width: number, hasColours = false): Look {
  return hasColours ? { width, heading: marked(BOLD), flag: marked(CYAN) } : { width, heading: same, flag: same };
}

/** Returns the text of `ebb --help`: usage, and each command with its summary. */
export function listCommands(commands: Readonly<Record<string, Pick<CommandHelp, "summary">>>, look: Look): string {
  const rows = Object.entries(commands).map(([name, { summary }]): Row => [name, summary]);
  const hasRun = "run" in commands;
  const others = hasRun
    ? `\`ebb NAME\`, or ebb in a file called NAME, is a drop-in replacement for the tool NAME, with its variables and flags: ${toolNames.join(", ")}.`
    : "ebb run and other commands work in Linux containers: ebb help lists their pages.";
  return `ebb: an entrypoint for containers that run next to a sidecar

${look.heading("usage:")} ${hasRun ? "ebb run [flags] -- CMD ARG...\n       " : ""}ebb COMMAND [flags]

${titledList("commands", rows, look)}
${wrapText(others, look.width, "")}
ebb COMMAND -h             the common flags of a command
ebb COMMAND --help         all flags, examples and exit codes of a command
ebb help [TOPIC]           a page of the manual; without TOPIC, a list of all
ebb help kubectl           kubectl ebb, the plugin for kubectl
ebb --version [--json]     the version; --json adds build details
ebb --licenses             the licences of the software inside ebb
`;
}

/** Returns the text of `ebb help`: the topics of the manual with their titles, by the headings of their groups. */
export function listPages(groups: Readonly<Record<string, readonly Row[]>>, look: Look): string {
  return `${Object.entries(groups)
    .map(([heading, pages]) => titledList(heading, pages, look))
    .join("\n")}
ebb --help lists the commands; ebb COMMAND --help lists the flags of one.
`;
}

/**
 * Returns the text of `ebb COMMAND --help`: description, examples, flags by group, exit codes. Lines have at most
 * `look.width` columns, unless a single word is longer. `program` is what stands before the commands.
 */
export function describeCommand(command: Described, look: Look, program = "ebb"): string {
  const { about, page, examples, exits, seeAlso, options } = command;
  const { width } = look;
  const more = `${program} help ${page}`;
  const sections = [
    usageOf(command, look, program),
    wrapText(about, width, ""),
    `${look.heading("examples:")}\n${examples.map(({ call, why }) => `  ${call}\n${wrapText(why, width, DEEP)}`).join("")}`,
    ...groupNames.map((group) => describeGroup(group, options, look)),
    nameRare(options, more, look),
    titledList("exit codes", exits, { ...look, flag: same }),
    (seeAlso.length === 0 ? "" : wrapText(`see also: ${seeAlso.map((name) => `ebb ${name}`).join(", ")}`, width, "")) +
      wrapText(`more: ${more}`, width, "") +
      (Object.values(options).some(({ also }) => also.length > 0)
        ? wrapText(`variables of other tools that set these flags: ${program} help options`, width, "")
        : ""),
  ];
  return sections.filter((section) => section !== "").join("\n");
}

/** The most flags of a command that `-h` shows all. */
const FEW = 10;

/**
 * Returns the text of `ebb COMMAND -h`: usage, and a line for each flag that people set; for all, if there are few.
 * `look` and `program` are as in `describeCommand`.
 */
export function describeBriefly(command: Described, look: Look, program = "ebb"): string {
  const { name, summary, page, options } = command;
  const all = Object.values(options);
  const shown = all.length <= FEW ? all : all.filter((option) => isCommon(option, name));
  const rows = shown.map((option): Row => [flagOf(option), briefOf(option)]);
  const flags = shown.length < all.length ? `all ${all.length} flags, ` : all.length > 0 ? "variables, " : "";
  const sections = [
    usageOf(command, look, program),
    wrapText(summary, look.width, ""),
    rows.length === 0 ? "" : titledList(shown.length === all.length ? "flags" : "common flags", rows, look),
    wrapText(`${program} ${name} --help: ${flags}examples, exit codes; ${program} help ${page}: more`, look.width, ""),
  ];
  return sections.filter((section) => section !== "").join("\n");
}

function isCommon({ brief, commonIn }: Option<unknown>, command: string): boolean {
  return brief !== undefined && (commonIn === undefined || (commonIn as readonly string[]).includes(command));
}

/** Returns an option's line in `-h`, with its default if that is one word. */
function briefOf(option: Option<unknown>): string {
  const initial = defaultOf(option);
  return `${option.brief ?? option.help}${/^\S+$/.test(initial) ? ` (default: ${initial})` : ""}`;
}

function usageOf({ usage }: Described, look: Look, program: string): string {
  return `${look.heading("usage:")} ${program} ${usage}\n`;
}

/** A command's help with all that its page in the manual gives. */
export interface Described extends CommandHelp {
  readonly name: string;
  readonly about: string;
  readonly page: string;
}

interface Tool {
  readonly usage: string;
  readonly about: string;
  readonly takes: readonly string[];
}

/** Returns the text of `ebb scuttle --help`: what ebb does if it is started by the name of another tool. */
export function describeTool(name: string, { usage, about, takes }: Tool, look: Look): string {
  const { width } = look;
  const own = `ebb's own variables (EBB_...) work too, and win over those of ${name}; \`ebb --help\` and \`ebb COMMAND --help\` list them.`;
  return [
    `${look.heading("usage:")} ${name} ${usage}\n`,
    wrapText(`ebb as a replacement for ${name}. ${about}`, width, ""),
    `${look.heading(`what ebb reads, with ${name}'s meaning:`)}\n${takes.map((each) => wrapText(each, width, "  ")).join("")}`,
    wrapText(own, width, ""),
    `more: ebb help ${pageFor(name)}\n`,
  ].join("\n");
}

const DEEP = "      ";

/** The headings of the groups of options, in their order. */
export const groupTitles: Readonly<Record<OptionGroup, string>> = {
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

function describeGroup(group: OptionGroup, options: Options, look: Look): string {
  const members = Object.values(options).filter((option) => option.group === group && !option.isRare);
  if (members.length === 0) return "";
  return `${look.heading(`${groupTitles[group]}:`)}\n${members.map((option) => describeOption(option, look)).join("")}`;
}

/** Names the options that few set, in one paragraph; "" if there are none. `page`: the call that prints what they do. */
function nameRare(options: Options, page: string, { width, heading }: Look): string {
  const rare = Object.values(options).filter(({ isRare }) => isRare);
  return rare.length === 0
    ? ""
    : `${heading(`rarely set, see ${page}:`)}\n${wrapText(rare.map(flagOf).join(", "), width, "  ")}`;
}

function describeOption(option: Option<unknown>, { width, flag }: Look): string {
  const initial = defaultOf(option);
  const notes = [option.repeatable ? "repeatable" : "", initial === "" ? "" : `default: ${initial}`].filter(Boolean);
  const text = `${option.help}${notes.length === 0 ? "" : ` (${notes.join("; ")})`}`;
  const variable = ownVariable(option);
  return `  ${flag(flagOf(option))}\n${wrapText(text, width, DEEP)}${variable === undefined ? "" : wrapText(`[${variable}]`, width, DEEP)}`;
}

/** Returns the name of the option's own variable; undefined if only a flag sets it. */
export function ownVariable({ variables }: Option<unknown>): string | undefined {
  return variables.find(({ name }) => name.startsWith(OWN))?.name;
}

/** Formats an option's flag with the name of its value: `--grace DURATION`, or `--json` for a switch. */
export function flagOf({ flag, value }: Option<unknown>): string {
  return value === undefined ? `--${flag}` : `--${flag} ${value}`;
}

/** Returns the text for an option's default in help; empty for a switch, and for an option without a default. */
export function defaultOf({ initially, value }: Option<unknown>): string {
  return value === undefined ? "" : initially;
}

/** Where the texts of a list begin, at most. What is longer before it moves its own text. */
const TEXT_AT = 32;

/** Returns rows under a heading, their texts below each other, and the words before them marked as flags are. */
export function titledList(title: string, rows: readonly Row[], { width, heading, flag }: Look): string {
  const left = Math.min(TEXT_AT, Math.max(...rows.map(([name]) => name.length)) + 4);
  const lines = rows.map(([name, text]) => {
    const before = `  ${name}  `.padEnd(left);
    const after = wrapText(text, width, " ".repeat(left), before).slice(before.length);
    return `  ${flag(name)}${before.slice(2 + name.length)}${after}`;
  });
  return `${heading(`${title}:`)}\n${lines.join("")}`;
}

/**
 * Wraps a text at blanks to lines of at most `width` columns, with `indent` before each line, `first` before the first,
 * and a line break after it. A word that is too long has its own line.
 */
export function wrapText(text: string, width: number, indent: string, first = indent): string {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push((lines.length === 0 ? first : indent) + word);
  }
  return lines.map((line) => `${line}\n`).join("");
}

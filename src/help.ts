import type { Command } from "./command.ts";
import { commands } from "./commands.ts";
import type { CompatTool } from "./compat/tool.ts";
import {
  type Described,
  describeBriefly,
  describeCommand,
  describeTool,
  type Look,
  listCommands,
  listPages,
  lookOf,
} from "./shared/cli/core/help.ts";
import { ownWords, pageFor, pagelessTopics, toolNames } from "./shared/cli/core/names.ts";
import { introOf, pagesWith, partsOf, titleOf } from "./shared/cli/core/page.ts";
import { nearest } from "./shared/cli/core/suggestion.ts";
import type { Environment } from "./shared/core/environment.ts";
import { EXIT, Failure } from "./shared/core/exit.ts";
import { hasColours, isTerminal } from "./shared/output/live.ts";
import { writeStreamed } from "./shared/output/output.ts";

type Pages = Readonly<Record<string, string>>;

/** What `--help`, or `-h`, is asked about, and with which environment. */
interface Asked {
  readonly isShort: boolean;
  readonly env: Environment;
}

/**
 * Prints to stdout the help of ebb, with the commands `listed`, if `name` is undefined or a flag, otherwise that of the
 * command or other tool with this name.
 * @throws Failure(64) if there is none
 */
export async function showHelp(name: string | undefined, asked: Asked, listed = commands): Promise<number> {
  const { env } = asked;
  if (name === "help") return await showPage(undefined, env);
  if (name === undefined || name.startsWith("-")) return await writeHelp(listCommands(listed, lookAt(env)));
  if (toolNames.includes(name)) {
    const { compatTools } = await import("./compat/tools.ts");
    return await writeHelp(describeTool(name, compatTools[name] as CompatTool, lookAt(env)));
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    const near = nearest(name, ownWords);
    const hint = near === undefined ? "" : `did you mean ebb ${near}? `;
    throw new Failure(EXIT.usage, `${name}: no such command; ${hint}ebb --help lists them`);
  }
  return await showCommand(name, command, asked);
}

/** Prints the help of a command, all of it or the short one. `program` is what users type before its name. */
export async function showCommand(
  name: string,
  command: Command,
  { isShort, env, program }: Asked & { readonly program?: string },
): Promise<number> {
  const describe = isShort ? describeBriefly : describeCommand;
  return await writeHelp(describe(withPage(name, command, await readPages()), lookAt(env), program));
}

/** Returns a command with what only its page says: the first paragraph describes it, unless its `about` does. */
export function withPage(name: string, command: Command, pages: Pages): Described {
  const { about = introOf(pages[name] ?? ""), page = name } = command;
  return { ...command, name, about, page };
}

/** Returns the look of help on stdout: as wide as the terminal, with colours if it has them. */
export function lookAt(env: Environment): Look {
  return lookOf(process.stdout.columns || 80, hasColours(env, 1));
}

/** Writes a text that may have colours to stdout. Resolves to the exit code. */
export async function writeHelp(text: string): Promise<number> {
  await writeStreamed(new TextEncoder().encode(text));
  return EXIT.ok;
}

/**
 * Prints the list of topics, if `topic` is undefined, a flag or `help`, or the page of the manual: formatted at a
 * terminal. For a topic without a page it prints that of another, or the --help of the command.
 * @throws Failure(64) if there is no such topic
 */
export async function showPage(topic: string | undefined, env: Environment): Promise<number> {
  const pages = await readPages();
  if (topic === undefined || topic.startsWith("-") || topic === "help") {
    return await writeHelp(listPages(groupsOf(pages), lookAt(env)));
  }
  const name = Object.hasOwn(pages, topic) ? topic : pageFor(topic);
  const page = name === undefined ? undefined : pages[name];
  if (page !== undefined) return await writeHelp(isTerminal(1) ? renderPage(page, themeOf(env)) : page);
  if (ownWords.includes(topic)) return await showHelp(topic, { isShort: false, env });
  const having = pagesWith(topic, pages).map((name) => `ebb help ${name}`);
  const near = nearest(topic, [...Object.keys(pages), ...pagelessTopics, ...ownWords]);
  const others = near === undefined ? "ebb help lists them" : `did you mean ebb help ${near}?`;
  const hint = having.length === 0 ? others : `pages that have the word: ${having.join(", ")}`;
  throw new Failure(EXIT.usage, `help: ${JSON.stringify(topic)}: no such topic; ${hint}`);
}

/** Groups the topics with their titles by the headings of `ebb help`; a command's name before a title is removed. */
function groupsOf(pages: Pages): Parameters<typeof listPages>[0] {
  const topics = Object.entries(pages).map(([topic, text]) => {
    const group = Object.hasOwn(commands, topic)
      ? "command"
      : /^(from-|migrating$)/.test(topic)
        ? "migration"
        : "other";
    return { group, row: [topic, titleOf(text).replace(/^ebb [a-z]+: /, "")] as const };
  });
  const rowsOf = (group: string) => topics.filter((topic) => topic.group === group).map(({ row }) => row);
  return {
    "ebb help TOPIC prints a page of the manual": rowsOf("other"),
    "pages of commands": rowsOf("command"),
    "from another tool to ebb": rowsOf("migration"),
  };
}

/** Reads the manual: embedded in the executable, or in development from the source. */
async function readPages(): Promise<Pages> {
  const { pages } = await import("./build-info.ts");
  if (pages !== undefined) return JSON.parse(Bun.zstdDecompressSync(Buffer.from(pages, "base64")).toString());
  const { manualPages } = await import("../build/pages.ts");
  return manualPages();
}

/** The most columns of a line, because longer ones are hard to read. */
const WIDEST = 100;

function themeOf(env: Environment): Bun.markdown.AnsiTheme {
  return { columns: Math.min(process.stdout.columns || 80, WIDEST), colors: hasColours(env, 1) };
}

/** Formats a page for a terminal. Code stays as it is, without a frame, so that it can be copied. */
export function renderPage(page: string, theme: Bun.markdown.AnsiTheme): string {
  const parts = partsOf(page).map((part, at) => (at % 2 === 0 ? Bun.markdown.ansi(part, theme) : part));
  const texts = parts.map((part) => part.replace(/^\n+/, "").trimEnd());
  return `${texts.filter((text) => text !== "").join("\n\n")}\n`;
}

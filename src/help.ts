import type { Command } from "./command.ts";
import type { CompatTool } from "./compat/tool.ts";
import { type Described, describeCommand, describeTool, listCommands, listPages } from "./shared/cli/core/help.ts";
import { ownWords, toolNames } from "./shared/cli/core/names.ts";
import { introOf, pagesWith, partsOf, titleOf } from "./shared/cli/core/page.ts";
import { nearest } from "./shared/cli/core/suggestion.ts";
import type { Environment } from "./shared/core/environment.ts";
import { EXIT, Failure } from "./shared/core/exit.ts";
import { isTerminal } from "./shared/output/live.ts";
import { writeOutput, writeStreamed } from "./shared/output/output.ts";

type Commands = Readonly<Record<string, Command>>;
type Pages = Readonly<Record<string, string>>;

/**
 * Prints to stdout the help of ebb if `name` is undefined or a flag, otherwise that of the command or other tool with
 * this name.
 * @throws Failure(64) if there is none
 */
export async function showHelp(name: string | undefined, commands: Commands): Promise<void> {
  const width = process.stdout.columns || 80;
  if (name === undefined || name.startsWith("-")) return void (await writeOutput(listCommands(commands, width)));
  if (toolNames.includes(name)) {
    const { compatTools } = await import("./compat/tools.ts");
    return void (await writeOutput(describeTool(name, compatTools[name] as CompatTool, width)));
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    const near = nearest(name, ownWords);
    const hint = near === undefined ? "" : `did you mean ebb ${near}? `;
    throw new Failure(EXIT.usage, `${name}: no such command; ${hint}ebb --help lists them`);
  }
  await writeOutput(describeCommand(withPage(name, command, await readPages()), width));
}

/** Returns a command with what only its page says: the first paragraph describes it, unless its `about` does. */
export function withPage(name: string, command: Command, pages: Pages): Described {
  const { about = introOf(pages[name] ?? ""), page = name } = command;
  return { ...command, about, page };
}

/**
 * Prints the list of topics, if `topic` is undefined or a flag, or the page of the manual: formatted at a terminal,
 * through $PAGER if it is set. For a command or other tool without a page it prints its --help.
 * @throws Failure(64) if there is no such topic
 */
export async function showPage(topic: string | undefined, commands: Commands, env: Environment): Promise<void> {
  const pages = await readPages();
  if (topic === undefined || topic.startsWith("-")) {
    return void (await writeOutput(listPages(titlesOf(pages), process.stdout.columns || 80)));
  }
  const page = Object.hasOwn(pages, topic) ? pages[topic] : undefined;
  if (page !== undefined) return await printPage(page, env);
  if (ownWords.includes(topic) || toolNames.includes(topic)) return await showHelp(topic, commands);
  const having = pagesWith(topic, pages).map((name) => `ebb help ${name}`);
  const near = nearest(topic, [...Object.keys(pages), ...ownWords, ...toolNames]);
  const others = near === undefined ? "ebb help lists them" : `did you mean ebb help ${near}?`;
  const hint = having.length === 0 ? others : `pages that have the word: ${having.join(", ")}`;
  throw new Failure(EXIT.usage, `help: ${JSON.stringify(topic)}: no such topic; ${hint}`);
}

/** Prints a page: at a terminal formatted, and through $PAGER; otherwise as Markdown. */
async function printPage(page: string, env: Environment): Promise<void> {
  if (!isTerminal(1)) return void (await writeOutput(page));
  const bytes = new TextEncoder().encode(renderPage(page, themeOf(env)));
  if (!(await wasPaged(bytes, env.PAGER))) await writeStreamed(bytes);
}

/** Lists the topics with their titles; the command's name before a title is removed. */
function titlesOf(pages: Pages): readonly (readonly [topic: string, title: string])[] {
  return Object.entries(pages).map(([topic, text]) => [topic, titleOf(text).replace(/^ebb [a-z]+: /, "")]);
}

/** Reads the manual: embedded in the executable, or in development from the source. */
export async function readPages(): Promise<Pages> {
  const { pages } = await import("./build-info.ts");
  if (pages !== undefined) return JSON.parse(Bun.zstdDecompressSync(Buffer.from(pages, "base64")).toString());
  const { manualPages } = await import("../build/pages.ts");
  return manualPages();
}

/** The most columns of a line, because longer ones are hard to read. */
const WIDEST = 100;

function themeOf({ NO_COLOR, TERM }: Environment): Bun.markdown.AnsiTheme {
  const columns = Math.min(process.stdout.columns || 80, WIDEST);
  return { columns, colors: (NO_COLOR ?? "") === "" && TERM !== "dumb" };
}

/** Formats a page for a terminal. Code stays as it is, without a frame, so that it can be copied. */
export function renderPage(page: string, theme: Bun.markdown.AnsiTheme): string {
  const parts = partsOf(page).map((part, at) => (at % 2 === 0 ? Bun.markdown.ansi(part, theme) : part));
  const texts = parts.map((part) => part.replace(/^\n+/, "").trimEnd());
  return `${texts.filter((text) => text !== "").join("\n\n")}\n`;
}

/** Shows bytes by a pager, and waits until it ends. Resolves to false if `pager` is empty or cannot be started. */
async function wasPaged(bytes: Uint8Array, pager = ""): Promise<boolean> {
  const words = pager.split(" ").filter((word) => word !== "");
  if (words.length === 0) return false;
  try {
    const env = { LESS: "FRX", ...process.env };
    const { exited } = Bun.spawn([...words], { stdin: bytes, stdout: "inherit", stderr: "inherit", env });
    await exited;
    return true;
  } catch {
    return false; // it cannot be started: the caller shows the text without it
  }
}

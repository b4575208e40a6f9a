import { manual } from "./about/manual.ts";
import type { Command } from "./command.ts";
import { describeCommand, describeTool, listCommands, listPages, type Manual, type Synopsis } from "./core/cli/help.ts";
import { introOf, type Look, renderMarkdown, titleOf } from "./core/cli/markdown.ts";
import { commandNames, toolNames } from "./core/cli/names.ts";
import { nearest } from "./core/cli/suggestion.ts";
import { EXIT, Failure } from "./core/run/exit.ts";
import { manuals } from "./manuals.ts";
import type { Personality } from "./personalities/personality.ts";
import { isTerminal } from "./system/output/live.ts";
import { writeOutput, writeStreamed } from "./system/output/output.ts";

// A bundle of its own (build/bundle/lazy-bundles.ts): text that nothing else needs.

type Environment = Readonly<Record<string, string | undefined>>;
type Commands = Readonly<Record<string, Command>>;
type Pages = Readonly<Record<string, string>>;

/** Prints `ebb --help`, or that of a command or another tool. @throws Failure 64 where there is no such command */
export async function showHelp(name: string | undefined, commands: Commands): Promise<void> {
  const width = process.stdout.columns || 80;
  if (name === undefined || name.startsWith("-")) return void (await writeOutput(listCommands(commands, width)));
  if (toolNames.includes(name)) {
    const { personalities } = await import("./personalities/personalities.ts");
    return void (await writeOutput(describeTool(name, personalities[name] as Personality, width)));
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    const near = nearest(name, commandNames);
    const hint = near === undefined ? "" : `did you mean ebb ${near}? `;
    throw new Failure(EXIT.usage, `${name}: no such command; ${hint}ebb --help lists them`);
  }
  await writeOutput(describeCommand(command, synopsisOf(name, await readPages()), width));
}

/** Of commands without a page of their own, the page that tells most of them. */
const topics: Readonly<Record<string, string>> = {
  sleep: "wait",
  config: "options",
  completion: "options",
  manifests: "webhook",
};

/** Returns a command's text for --help; its description is the first paragraph of its page. */
export function synopsisOf(name: string, pages: Pages): Synopsis {
  const manual = manuals[name] as Manual;
  return { ...manual, about: manual.about ?? introOf(pages[name] ?? ""), topic: topics[name] ?? name };
}

/**
 * Prints `ebb help [TOPIC]`: the topics, or a page; of a command or tool without a page, its --help. @throws Failure 64 where
 * there is no such topic
 */
export async function showManual(topic: string | undefined, commands: Commands, env: Environment): Promise<void> {
  const pages = await readPages();
  if (topic === undefined || topic.startsWith("-")) {
    return void (await writeOutput(listPages(titlesOf(pages), process.stdout.columns || 80)));
  }
  const page = Object.hasOwn(pages, topic) ? pages[topic] : undefined;
  if (page !== undefined) return await showPage(page, env);
  if (commandNames.includes(topic) || toolNames.includes(topic)) return await showHelp(topic, commands);
  const near = nearest(topic, [...Object.keys(pages), ...commandNames, ...toolNames]);
  const hint = near === undefined ? "ebb help lists them" : `did you mean ebb help ${near}?`;
  throw new Failure(EXIT.usage, `help: ${JSON.stringify(topic)}: no such topic; ${hint}`);
}

/** At a terminal formatted, and through $PAGER; in a pipe as it is. */
async function showPage(page: string, env: Environment): Promise<void> {
  if (!isTerminal(1)) return void (await writeOutput(page));
  const bytes = new TextEncoder().encode(renderMarkdown(page, lookOf(env)));
  if (!(await wasPaged(bytes, env.PAGER))) await writeStreamed(bytes);
}

/** Lists the topics with their titles; the command's name before a title is removed. */
function titlesOf(pages: Pages): readonly (readonly [topic: string, title: string])[] {
  return Object.entries(pages).map(([topic, text]) => [topic, titleOf(text).replace(/^ebb [a-z]+: /, "")]);
}

/** Reads the manual: embedded in the executable, or in development from the source. */
async function readPages(): Promise<Pages> {
  if (manual !== undefined) return JSON.parse(Bun.zstdDecompressSync(Buffer.from(manual, "base64")).toString());
  const { manualPages } = await import("../build/manual.ts");
  return manualPages();
}

/** A line that is longer is hard to read. */
const WIDEST = 100;

function lookOf({ NO_COLOR, TERM }: Environment): Look {
  const width = Math.min(process.stdout.columns || 80, WIDEST);
  return { width, isStyled: (NO_COLOR ?? "") === "" && TERM !== "dumb" };
}

/** False where there is no pager, or it cannot be started. */
async function wasPaged(bytes: Uint8Array, pager = ""): Promise<boolean> {
  const words = pager.split(" ").filter((word) => word !== "");
  if (words.length === 0) return false;
  try {
    const env = { LESS: "FRX", ...process.env };
    const { exited } = Bun.spawn([...words], { stdin: bytes, stdout: "inherit", stderr: "inherit", env });
    await exited;
    return true;
  } catch {
    return false; // it is not there: the text is shown all the same
  }
}

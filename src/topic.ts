import { manual } from "./about/manual.ts";
import { type Look, renderMarkdown, titleOf } from "./core/cli/markdown.ts";
import { commandNames, toolNames } from "./core/cli/names.ts";
import { nearest } from "./core/cli/suggestion.ts";
import { EXIT, Failure } from "./core/run/exit.ts";
import { isTerminal } from "./system/output/live.ts";
import { writeOutput, writeStreamed } from "./system/output/output.ts";

// A bundle of its own (build/bundle/lazy-bundles.ts), because of 44 KB that nothing else needs.

type Environment = Readonly<Record<string, string | undefined>>;

/** `ebb help TOPIC`: a page of the manual; at a terminal formatted, and through $PAGER, in a pipe as it is. @throws Failure 64 */
export async function showTopic(topic: string, env: Environment): Promise<void> {
  const pages = await readPages();
  const page = pages[topic];
  if (page === undefined) {
    const near = nearest(topic, [...Object.keys(pages), ...commandNames, ...toolNames]);
    const hint = near === undefined ? "ebb help lists them" : `did you mean ebb help ${near}?`;
    throw new Failure(EXIT.usage, `help: ${JSON.stringify(topic)}: no such topic; ${hint}`);
  }
  if (!isTerminal(1)) return void (await writeOutput(page));
  const bytes = new TextEncoder().encode(renderMarkdown(page, lookOf(env)));
  if (!(await wasPaged(bytes, env.PAGER))) await writeStreamed(bytes);
}

/** The topics and their titles, without the command's name before them. */
export async function listTopics(): Promise<readonly (readonly [topic: string, title: string])[]> {
  return Object.entries(await readPages()).map(([topic, text]) => [topic, titleOf(text).replace(/^ebb [a-z]+: /, "")]);
}

/** In development, of the source's own folder. */
async function readPages(): Promise<Readonly<Record<string, string>>> {
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

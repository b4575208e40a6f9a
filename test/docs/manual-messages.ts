import { readFileSync } from "node:fs";
import { join } from "node:path";

const page = readFileSync(join(import.meta.dirname, "../..", "src", "manual", "logs.md"), "utf8");

/** A message of the page logs: "- `TEXT` (KINDS; COMMANDS): FIELDS", and after a hard break "CAUSE **Do:** CURE". */
interface Item {
  readonly text: string;
  /** The levels of a message of the log; the exit codes of an error outside of it, or `warning`. */
  readonly kinds: readonly string[];
  /** With those that each message of its group has. */
  readonly fields: readonly string[];
  /** "CAUSE **Do:** CURE", or empty. */
  readonly advice: string;
}

/** Returns the items of a section (`## TITLE`). */
function itemsOf(title: string): readonly Item[] {
  const [, after = ""] = page.split(`\n## ${title}\n`);
  const [section = ""] = after.split("\n## ");
  return section.split("\n### ").flatMap((group) => {
    const blocks = group.split("\n\n");
    const shared = blocks.filter((block) => block.startsWith("Each of these lines has the fields"));
    const lists = blocks.filter((block) => block.startsWith("- "));
    return lists.flatMap((list) => list.split(/\n(?=- )/)).map((item) => itemOf(item, shared.join()));
  });
}

function itemOf(item: string, shared: string): Item {
  const [head = "", advice = ""] = item.split("\\\n").map((part) => part.replaceAll(/\s+/g, " ").trim());
  const [, text, kinds, fields = ""] = /^- `([^`]+)` \(([a-z0-9, ]+)(?:;[^)]*)?\)(?:: (.+))?$/.exec(head) ?? [];
  if (text === undefined || kinds === undefined) throw new Error(`logs.md: cannot read the item ${item}`);
  return { text, kinds: kinds.split(", "), fields: namesIn(`${shared}, ${fields}`), advice };
}

/** Returns the names in a list of fields: "`a` (what it is), `b`". */
function namesIn(list: string): readonly string[] {
  return [...list.replaceAll(/\([^)]*\)/g, "").matchAll(/`(\w+)`/g)].map(([, name = ""]) => name);
}

/** The messages of the log. */
export const logMessages = itemsOf("Messages");
/** Failures, and warnings that are not in the log. `{name}` stands for a value. */
export const failures = itemsOf("Errors outside the log");

/**
 * Returns the lines that ebb wrote to stderr and the manual does not have: not at this level, with one of these fields,
 * or with this exit code; undefined: ebb was killed, or its exit code is not known.
 */
export function unknownLines(stderr: string, exitCode: number | undefined): readonly string[] {
  return stderr.split("\n").filter((line) => {
    if (line.startsWith("{")) return !isKnownEntry(JSON.parse(line), exitCode);
    return line.startsWith("ebb: ") && !isKnownLine(line, exitCode);
  });
}

const patterns = [
  /: (put ebb into|added only a drain to|took ebb out of|unchanged:) /, // ebb inject, of each workload
  ...logMessages.map(({ text }) => new RegExp(`^ebb: ((warn|error): )?${RegExp.escape(text)}(:| \\w+=|$)`)),
];
const failurePatterns = failures.map(({ text, kinds }) => {
  const pattern = RegExp.escape(text)
    .replace("\\{line\\}", "\\d+")
    .replaceAll(/\\\{\w+\\\}/g, ".*");
  return { pattern: new RegExp(`^ebb: ${pattern}$`), kinds };
});

function isKnownLine(line: string, exitCode: number | undefined): boolean {
  if (patterns.some((pattern) => pattern.test(line))) return true;
  const kindsOf = failurePatterns.filter(({ pattern }) => pattern.test(line)).flatMap(({ kinds }) => kinds);
  return kindsOf.some((kind) => kind === "warning" || exitCode === undefined || kind === String(exitCode));
}

const byMsg = new Map(logMessages.map((message) => [`ebb: ${message.text}`, message]));
const always = ["level", "severity", "time", "msg"];

interface Entry {
  readonly msg?: string;
  readonly level?: string;
  readonly reason?: string;
}

function isKnownEntry(entry: Entry, exitCode: number | undefined): boolean {
  if (entry.msg?.startsWith("ebb: ") !== true) return true; // not ebb's
  if (entry.msg === "ebb: cannot go on" && !isKnownLine(`ebb: ${entry.reason}`, exitCode)) return false;
  const message = byMsg.get(entry.msg);
  return (
    message?.kinds.includes(entry.level ?? "") === true &&
    Object.keys(entry).every((name) => always.includes(name) || message.fields.includes(name))
  );
}

import { readFileSync } from "node:fs";
import { join } from "node:path";

const manual = join(import.meta.dirname, "..", "src", "manual");

/** Returns the items of a page's section (`## TITLE`): of "- `TEXT` REST" both. */
function itemsOf(page: string, title: string): readonly { readonly text: string; readonly rest: string }[] {
  const [, after = ""] = readFileSync(join(manual, page), "utf8").split(`\n## ${title}\n`);
  const [section = ""] = after.split("\n## ");
  return [...section.matchAll(/^- (?:`([^`]+)`)?(.*)$/gm)].map(([, text = "", rest = ""]) => ({ text, rest }));
}

/** The log's messages; with each its levels, the commands that write it, and its fields. */
export const logMessages = itemsOf("logs.md", "Messages");
/** The log's warnings and errors; with each its levels, its cause, and what to do. */
export const loudMessages = itemsOf("troubleshooting.md", "Warnings and errors");
/** Failures, and warnings that are not in the log, each with its cause, and what to do. `{name}` stands for a value. */
export const failures = itemsOf("troubleshooting.md", "Failures");

/** Returns the lines that ebb wrote to stderr and the manual does not have, or has without one of the fields. */
export function unknownLines(stderr: string): readonly string[] {
  return stderr.split("\n").filter((line) => {
    if (line.startsWith("{")) return !isKnownEntry(JSON.parse(line));
    return line.startsWith("ebb: ") && !patterns.some((pattern) => pattern.test(line));
  });
}

const patterns = [
  /: (put ebb into|added only a drain to|took ebb out of|unchanged:) /, // ebb inject, of each workload
  ...logMessages.map(({ text }) => new RegExp(`^ebb: ((warn|error): )?${RegExp.escape(text)}(:| \\w+=|$)`)),
  ...failures.map(({ text }) => {
    const pattern = RegExp.escape(text)
      .replace("\\{line\\}", "\\d+")
      .replaceAll(/\\\{\w+\\\}/g, ".*");
    return new RegExp(`^ebb: ${pattern}$`);
  }),
];

const fields = new Map(logMessages.map(({ text, rest }) => [`ebb: ${text}`, rest]));
const always = ["level", "severity", "time", "msg"];

function isKnownEntry(entry: { readonly msg?: string }): boolean {
  if (entry.msg?.startsWith("ebb: ") !== true) return true; // not ebb's
  const told = fields.get(entry.msg);
  return (
    told !== undefined && Object.keys(entry).every((name) => always.includes(name) || told.includes(`\`${name}\``))
  );
}

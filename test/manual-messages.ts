import { readFileSync } from "node:fs";
import { join } from "node:path";

const manual = join(import.meta.dirname, "..", "src", "manual");

/** One of a page's list: `- `TEXT` REST`. */
interface Item {
  readonly text: string;
  readonly rest: string;
}

/** Returns the items of a page's section (`## TITLE`). */
function itemsOf(page: string, title: string): readonly Item[] {
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

const levels = "(?:(?:warn|error): )?";
const known = [
  ...logMessages.map(({ text }) => new RegExp(`^ebb: ${levels}${RegExp.escape(text)}( \\w+=|$)`)),
  ...failures.map(({ text }) => {
    const constant = text.split(/\{(\w+)\}/).map((part, at) => {
      if (at % 2 === 0) return RegExp.escape(part);
      return part === "line" ? "\\d+" : ".*";
    });
    return new RegExp(`^ebb: ${constant.join("")}$`);
  }),
];
const fields = new Map(logMessages.map(({ text, rest }) => [`ebb: ${text}`, rest]));
const always = ["level", "severity", "time", "msg"];

/** Returns the lines `ebb: ...` of stderr that are in no list of the manual. */
export function unknownLines(stderr: string): readonly string[] {
  const lines = stderr.split("\n").filter((line) => line.startsWith("ebb: "));
  return lines.filter((line) => !known.some((pattern) => pattern.test(line)));
}

/** Returns the entries of a log that are not in the manual, or have a field that is not. */
export function unknownEntries<E extends { readonly msg: string }>(log: readonly E[]): readonly E[] {
  return log.filter((entry) => {
    const rest = fields.get(entry.msg);
    return (
      rest === undefined || !Object.keys(entry).every((name) => always.includes(name) || rest.includes(`\`${name}\``))
    );
  });
}

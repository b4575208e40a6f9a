import { logMessages, otherMessages } from "./log-messages.ts";

/**
 * Returns the lines that ebb wrote to stderr and log-messages.ts does not have: not at this level, with one of these
 * fields, or with this exit code; undefined: ebb was killed, or its exit code is not known.
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
const otherPatterns = otherMessages.map(({ text, kinds }) => {
  const pattern = RegExp.escape(text)
    .replace("\\{line\\}", "\\d+")
    .replaceAll(/\\\{\w+\\\}/g, ".*");
  return { pattern: new RegExp(`^ebb: ${pattern}$`), kinds };
});

function isKnownLine(line: string, exitCode: number | undefined): boolean {
  if (patterns.some((pattern) => pattern.test(line))) return true;
  const kindsOf = otherPatterns.filter(({ pattern }) => pattern.test(line)).flatMap(({ kinds }) => kinds);
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
    message?.levels.includes(entry.level ?? "") === true &&
    Object.keys(entry).every((name) => always.includes(name) || message.fields.includes(name))
  );
}

import { drainMessages } from "../src/core/messages/drain-log.ts";
import { failures, otherFailures, plainWarnings } from "../src/core/messages/failures.ts";
import type { Catalogue, FailureCatalogue } from "../src/core/messages/message.ts";
import { podMessages } from "../src/core/messages/pod-log.ts";
import { reaperMessages } from "../src/core/messages/reaper-log.ts";
import { runMessages } from "../src/core/messages/run-log.ts";
import { usageFailures } from "../src/core/messages/usage-failures.ts";
import { webhookMessages } from "../src/core/messages/webhook-log.ts";

/** The log's messages in titled groups, in the order of the manual. */
export const messageGroups: readonly (readonly [title: string, Catalogue])[] = [
  ["The command's life", runMessages],
  ["Sidecars, and any command's start", podMessages],
  ["Draining", drainMessages],
  ["The webhook, certificates and the Lease", webhookMessages],
  ["The reaper", reaperMessages],
];

/** Each failure, and each warning that does not go to the log, by its text. */
export const failureTexts: FailureCatalogue = { ...usageFailures, ...failures, ...otherFailures, ...plainWarnings };

type Entry = Catalogue[string];

/** Words for the groups of commands that a message belongs to. */
const commands: Readonly<Record<string, string>> = {
  all: "any command",
  pod: "run, wait, quit, drain, status, request",
};

/** Returns Markdown that lists each log message with its levels, commands and fields. */
export function logList(): string {
  return messageGroups.map(([title, messages]) => section(title, Object.entries(messages).map(logItem))).join("");
}

/** Returns Markdown that lists each warning and error of the log, with its cause and cure. */
export function warningList(): string {
  return messageGroups
    .map(([title, messages]) => section(title, Object.entries(messages).flatMap(warningItem)))
    .join("");
}

/** Returns Markdown that lists the failures by exit code, and then the warnings that do not go to the log. */
export function failureList(): string {
  const entries = Object.entries(failureTexts);
  const codes = [...new Set(entries.flatMap(([, { exit }]) => exit))].toSorted((a, b) => a - b);
  const sections = codes.map((code) => {
    const own = entries.filter(([, { exit }]) => [exit].flat().includes(code));
    return section(`Exit code ${code}`, own.map(failureItem));
  });
  const warnings = entries.filter(([, { exit }]) => [exit].flat().length === 0);
  return [...sections, section("Warnings outside the log", warnings.map(failureItem))].join("");
}

function section(title: string, items: readonly string[]): string {
  return `\n### ${title}\n\n${items.join("")}`;
}

function logItem([message, { level, by, fields }]: readonly [string, Entry]): string {
  const told = Object.entries(fields).map(([name, meaning]) => `\`${name.replace("?", "")}\` (${meaning})`);
  const what = told.length === 0 ? "" : `: ${told.join(", ")}`;
  return `- \`${message}\`: ${[level].flat().join(", ")}; ${commands[by] ?? by}${what}\n`;
}

function warningItem([message, entry]: readonly [string, Entry]): readonly string[] {
  if (!("cause" in entry)) return [];
  return [`- \`${message}\` (${[entry.level].flat().join(", ")}). ${entry.cause} **Do:** ${entry.cure}\n`];
}

function failureItem([text, { cause, cure }]: readonly [string, FailureCatalogue[string]]): string {
  return `- \`${text}\`. ${cause} **Do:** ${cure}\n`;
}

import { failures, otherFailures, plainWarnings } from "../src/core/messages/failures.ts";
import type { FailureCatalogue } from "../src/core/messages/message.ts";
import { usageFailures } from "../src/core/messages/usage-failures.ts";

/** Each failure, and each warning that does not go to the log, by its text. */
export const failureTexts: FailureCatalogue = { ...usageFailures, ...failures, ...otherFailures, ...plainWarnings };

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

function failureItem([text, { cause, cure }]: readonly [string, FailureCatalogue[string]]): string {
  return `- \`${text}\`. ${cause} **Do:** ${cure}\n`;
}

import { type Syntax, syntax } from "../../shared/cli/core/syntax.ts";
import { isDnsSubdomain } from "../../shared/core/dns-name.ts";

/** The syntax of selectors that `kubectl get --selector` takes: `app=shop,tier in (web,api),!batch`. Its value is the text. */
export const labelSelector: Syntax<string> = syntax(
  (text) => (partsOf(text).every(isRequirement) ? text : undefined),
  "labels as kubectl selects them, such as app=shop,tier!=batch or 'team in (a,b)'",
);

/** Splits at commas that are not in parentheses. */
function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  let start = 0;
  let isInside = false;
  for (let at = 0; at <= text.length; at += 1) {
    if (text[at] === "(" || text[at] === ")") isInside = text[at] === "(";
    if (at < text.length && (text[at] !== "," || isInside)) continue;
    parts.push(text.slice(start, at).trim());
    start = at + 1;
  }
  return parts;
}

function isRequirement(text: string): boolean {
  const [, key = "", operator = "", rest = ""] = /^([^\s!=()]+)\s*(==?|!=|in\b|notin\b|$)\s*(.*)$/s.exec(text) ?? [];
  if (operator === "") return isKey(/^!?\s*(\S+)$/.exec(text)?.[1] ?? ""); // whether there is such a label
  const [, set] = /^\(([^()]*)\)$/.exec(rest) ?? [];
  if (!operator.endsWith("in")) return isKey(key) && isValue(rest);
  return set !== undefined && isKey(key) && set.split(",").every((value) => isValue(value.trim()));
}

// apimachinery, pkg/util/validation: IsQualifiedName, IsValidLabelValue
const WORD = /^[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/;

function isKey(text: string): boolean {
  const [name = "", prefix, ...more] = text.split("/").reverse();
  const isPrefix = prefix === undefined || isDnsSubdomain(prefix);
  return WORD.test(name) && isPrefix && more.length === 0;
}

function isValue(text: string): boolean {
  return text === "" || WORD.test(text);
}

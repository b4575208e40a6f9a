import { isDnsSubdomain } from "../../base/dns-name.ts";
import { type Syntax, syntax } from "../syntax.ts";

/**
 * One requirement of a label selector, as Kubernetes objects have them in matchExpressions. All of a selector must
 * hold.
 */
export interface Requirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[];
}

/** The syntax of selectors that `kubectl get --selector` takes: `app=shop,tier in (web,api),!batch`. */
export const labelSelector: Syntax<readonly Requirement[]> = syntax(
  parse,
  "labels as kubectl selects them, such as app=shop,tier!=batch or 'team in (a,b)'",
);

function parse(text: string): readonly Requirement[] | undefined {
  const requirements = partsOf(text).map(requirementOf);
  return requirements.includes(undefined) ? undefined : (requirements as readonly Requirement[]);
}

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

function requirementOf(text: string): Requirement | undefined {
  const [, key = "", operator = "", rest = ""] = /^([^\s!=()]+)\s*(==?|!=|in\b|notin\b|$)\s*(.*)$/s.exec(text) ?? [];
  if (operator === "") return existenceOf(text);
  const isSet = operator.endsWith("in");
  const [, set] = /^\(([^()]*)\)$/.exec(rest) ?? [];
  if (isSet && set === undefined) return undefined;
  const values = isSet ? (set as string).split(",").map((value) => value.trim()) : [rest];
  if (!isKey(key) || !values.every(isValue)) return undefined;
  return { key, operator: operator.startsWith("!") || operator.startsWith("n") ? "NotIn" : "In", values };
}

function existenceOf(text: string): Requirement | undefined {
  const [, not, key = ""] = /^(!?)\s*(\S+)$/.exec(text) ?? [];
  if (!isKey(key)) return undefined;
  return { key, operator: not === "!" ? "DoesNotExist" : "Exists" };
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

import { Composer, type CST, type Document, Lexer, Parser, type YAMLError } from "yaml";
import { isFirstOnLine } from "./places.ts";

/** The error for a text that is no YAML that Kubernetes could read. `offset` says where in the text. */
export class NotYaml extends Error {
  readonly offset: number;
  /** What ends the quotes, brackets or braces at whose line the parser stumbles, and kubectl does not. */
  readonly close: string | undefined;

  constructor(offset: number, message: string, close?: string) {
    super(message);
    this.offset = offset;
    this.close = close;
  }
}

/** The deepest that maps and lists may be nested. kubectl reads 10,000 levels, and no manifest needs a hundred. */
export const MOST_LEVELS = 1000;

export const TOO_DEEP = `maps and lists are nested too deeply: expected at most ${MOST_LEVELS} levels`;

/** What Kubernetes' parsers refuse, or read wrongly: a control character, or a byte order mark that is not the first. */
const refused = /[^\P{Cc}\t\n\r\x7f-\x9f]|(?<=[\n\ufeff])\ufeff/u;

/**
 * Parses the text of one YAML document into nodes. Keys may be given twice, as for go-yaml, and so Kubernetes. `isEdited`:
 * whether nodes keep their tokens, which say where they stand in the text.
 * @throws NotYaml if there is a syntax error, a character that no manifest may have, or a second document, or if it is
 * nested too deeply
 */
export function parseNodes(text: string, isEdited: boolean): Document.Parsed {
  const found = refused.exec(text);
  if (found !== null) throw new NotYaml(found.index, whyRefused(found[0]));
  const composer = new Composer({
    schema: "failsafe",
    uniqueKeys: false,
    strict: false,
    prettyErrors: false,
    keepSourceTokens: isEdited,
    logLevel: "error",
  });
  const [document, other] = [...composer.compose(tokensOf(text), true, text.length)];
  const [error] = document?.errors ?? [];
  if (error !== undefined) throw notYaml(text, error);
  if (other !== undefined) throw new NotYaml(other.range[0], "another document begins here without --- before it");
  return document as Document.Parsed;
}

function notYaml(text: string, { message, pos: [offset] }: YAMLError): NotYaml {
  const [, close] = /^(?:Flow .* end with a|Missing closing) ([\]}"'])/.exec(message) ?? [];
  if (close === undefined) return new NotYaml(offset, message);
  // quotes end before the line break
  const at = offset + text.slice(offset).search(/\S|$/);
  if (at === text.length || !isFirstOnLine(text, at)) return new NotYaml(offset, `a closing ${close} is missing`);
  const where = close === "]" ? "brackets" : close === "}" ? "braces" : "quotes";
  return new NotYaml(
    at,
    `a line inside ${where} is not indented more than their key or dash: indent it more, with spaces, or add the ${close} that is missing before it`,
    close,
  );
}

/** The most places at which `withIndents` indents lines. Each takes as long as a parse. */
const MOST_INDENTS = 100;

/**
 * Returns a text that means the same, with those lines indented that stand too far left inside quotes, brackets or braces.
 * Returns undefined if something else is wrong, too.
 */
export function withIndents(text: string): string | undefined {
  const deepest = text.matchAll(/^ */gm).reduce((most, [{ length }]) => Math.max(most, length), 0);
  const margin = " ".repeat(deepest + 1);
  let indented = text;
  for (let count = 0; count < MOST_INDENTS; count += 1) {
    try {
      parseNodes(indented, false);
      return indented;
    } catch (error) {
      if (!(error instanceof NotYaml) || error.close === undefined) return undefined;
      const start = indented.lastIndexOf("\n", error.offset) + 1;
      const end = indented.indexOf(error.close, error.offset) + 1 || indented.length;
      indented = indented.slice(0, start) + indented.slice(start, end).replaceAll(/^/gm, margin) + indented.slice(end);
    }
  }
  return undefined;
}

function* tokensOf(text: string): Generator<CST.Token> {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > MOST_LEVELS) throw new NotYaml(parser.offset, TOO_DEEP);
  }
  yield* parser.end();
}

function whyRefused(character: string): string {
  const code = (character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, "0");
  if (character === "\ufeff") return `there is a byte order mark (U+${code}) here, which is invisible: remove it`;
  const hint = character === "\0" ? "; if this is UTF-16, convert it to UTF-8 with iconv" : "";
  return `there is a control character U+${code} here, which Kubernetes refuses${hint}`;
}
